#!/bin/sh
# Runs the fuzzers one after another, each for FUZZ_SECONDS (60), or only those named as arguments. The next run
# continues from the corpus below SCRATCH, reduced to the fewest inputs with the same coverage. Findings are written
# beside it, and make the exit status 1.
set -eu
cd "$(dirname "$0")/../.."
scratch=${SCRATCH:-.build}/fuzz
seconds=${FUZZ_SECONDS:-60}
[ $# -gt 0 ] || set -- FuzzDecoder FuzzHub FuzzTraces FuzzDevice FuzzTours FuzzClient FuzzTUIO

mkdir -p "$scratch/findings"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
swift build --package-path Tests/Fuzz -c release --sanitize=fuzzer --scratch-path "$scratch" >"$log" 2>&1 ||
    { cat "$log"; exit 1; }
python3 Tests/Fuzz/seeds.py "$scratch/seeds"

dictionary() { # FUZZER: its own, or that of recordings; with the words of the protocol if it reads the protocol's lines
    case $1 in FuzzDecoder | FuzzHub | FuzzClient) cat "$scratch/seeds/words.dict" ;; esac
    [ -e "Tests/Fuzz/Dictionaries/$1.dict" ] && cat "Tests/Fuzz/Dictionaries/$1.dict" ||
        cat Tests/Fuzz/Dictionaries/FuzzTraces.dict
}

status=0
for fuzzer; do
    mkdir -p "$scratch/corpus/$fuzzer"
    dictionary "$fuzzer" >"$scratch/dictionary"
    # Swift's own crash report would replace libFuzzer's.
    if SWIFT_BACKTRACE=enable=no "$scratch/release/$fuzzer" -max_total_time="$seconds" -timeout=20 -max_len=4096 \
        -rss_limit_mb=1024 -print_final_stats=1 -dict="$scratch/dictionary" \
        -artifact_prefix="$scratch/findings/$fuzzer-" \
        "$scratch/corpus/$fuzzer" "$scratch/seeds/$fuzzer" >"$log" 2>&1; then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        coverage=$(grep -Eo 'cov: [0-9]+' "$log" | tail -n 1)
        rm -rf "$scratch/fewest" && mkdir "$scratch/fewest"
        "$scratch/release/$fuzzer" -merge=1 -timeout=20 -rss_limit_mb=1024 "$scratch/fewest" "$scratch/corpus/$fuzzer" >"$log" 2>&1
        rm -rf "$scratch/corpus/$fuzzer" && mv "$scratch/fewest" "$scratch/corpus/$fuzzer"
        echo "$fuzzer $seconds $runs" >>"$scratch/done"
        echo "$fuzzer: passed, $runs runs, $coverage, $(find "$scratch/corpus/$fuzzer" -type f | wc -l) inputs kept;" \
            "$(awk -v name="$fuzzer" '$1 == name { s += $2; r += $3 } END { printf "in all %d minutes, %d runs", s / 60, r }' \
                "$scratch/done")"
    else
        status=1
        echo "$fuzzer: FAILED"
        tail -n 40 "$log"
    fi
done
exit $status
