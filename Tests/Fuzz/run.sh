#!/bin/sh
# Runs the fuzzers one after another, each for FUZZ_SECONDS (60), or only those named as arguments. The next run
# continues from the corpus below SCRATCH, reduced to the fewest inputs with the same coverage; the first one, from what
# is kept in Tests/Fuzz/Corpus. Findings are written beside it, and make the exit status 1.
#
#   run.sh --keep [FUZZER…]     also writes Tests/Fuzz/Corpus anew
set -eu
cd "$(dirname "$0")/../.."
scratch=${SCRATCH:-.build}/fuzz
seconds=${FUZZ_SECONDS:-60}
kept=Tests/Fuzz/Corpus
keeps=false
[ "${1:-}" != --keep ] || { keeps=true && shift; }
[ $# -gt 0 ] || set -- FuzzDecoder FuzzHub FuzzTraces FuzzDevice FuzzTours FuzzClient FuzzTUIO

mkdir -p "$scratch/findings" "$scratch/corpus"
[ -e "$scratch/done" ] || [ ! -e $kept/totals ] || cp $kept/totals "$scratch/done"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() { "$@" >"$log" 2>&1 || { cat "$log" && exit 1; }; } # COMMAND…: its output is only shown if it fails
quietly swift build --package-path Tests/Fuzz -c release --sanitize=fuzzer --scratch-path "$scratch"
python3 Tests/Fuzz/seeds.py "$scratch/seeds"

dictionary() { # FUZZER: its own, or that of recordings; with the words of the protocol if it reads the protocol's lines
    case $1 in FuzzDecoder | FuzzHub | FuzzClient) cat "$scratch/seeds/words.dict" ;; esac
    [ -e "Tests/Fuzz/Dictionaries/$1.dict" ] && cat "Tests/Fuzz/Dictionaries/$1.dict" ||
        cat Tests/Fuzz/Dictionaries/FuzzTraces.dict
}

keep() { # FUZZER: writes the fewest inputs that reach the same places, however often, and the totals of all runs
    rm -rf "$scratch/fewest" && mkdir -p "$scratch/fewest" $kept
    quietly "$scratch/release/$1" -set_cover_merge=1 -use_counters=0 -timeout=20 -rss_limit_mb=1024 \
        "$scratch/fewest" "$scratch/corpus/$1"
    # The inputs' own names, which are checksums, would take as much space as they do.
    number=0
    for input in "$scratch"/fewest/*; do mv "$input" "$scratch/fewest/$((number += 1))"; done
    (cd "$scratch/fewest" && tar -c --owner=0 --group=0 --numeric-owner --mode=644 --mtime=@0 --format=ustar -- *) |
        xz -9e >"$kept/$1.tar.xz"
    awk '{ s[$1] += $2; r[$1] += $3 } END { for (name in s) printf "%s %d %.0f\n", name, s[name], r[name] }' \
        "$scratch/done" | sort >$kept/totals
    echo "$1: $number inputs in $(wc -c <"$kept/$1.tar.xz") bytes reach the same places: $kept/$1.tar.xz"
}

status=0
for fuzzer; do
    if [ ! -d "$scratch/corpus/$fuzzer" ]; then
        rm -rf "$scratch/fewest" && mkdir "$scratch/fewest"
        [ ! -e "$kept/$fuzzer.tar.xz" ] || tar -xJf "$kept/$fuzzer.tar.xz" -C "$scratch/fewest"
        mv "$scratch/fewest" "$scratch/corpus/$fuzzer"
    fi
    dictionary "$fuzzer" >"$scratch/dictionary"
    # Swift's own crash report would replace libFuzzer's.
    if SWIFT_BACKTRACE=enable=no "$scratch/release/$fuzzer" -max_total_time="$seconds" -timeout=20 -max_len=4096 \
        -rss_limit_mb=1024 -print_final_stats=1 -dict="$scratch/dictionary" \
        -artifact_prefix="$scratch/findings/$fuzzer-" \
        "$scratch/corpus/$fuzzer" "$scratch/seeds/$fuzzer" >"$log" 2>&1; then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        coverage=$(grep -Eo 'cov: [0-9]+' "$log" | tail -n 1)
        rm -rf "$scratch/fewest" && mkdir "$scratch/fewest"
        quietly "$scratch/release/$fuzzer" -merge=1 -timeout=20 -rss_limit_mb=1024 "$scratch/fewest" "$scratch/corpus/$fuzzer"
        rm -rf "$scratch/old" && mv "$scratch/corpus/$fuzzer" "$scratch/old"
        mv "$scratch/fewest" "$scratch/corpus/$fuzzer"
        echo "$fuzzer $seconds $runs" >>"$scratch/done"
        echo "$fuzzer: passed, $runs runs, $coverage, $(find "$scratch/corpus/$fuzzer" -type f | wc -l) inputs kept;" \
            "$(awk -v name="$fuzzer" '$1 == name { s += $2 / 3600; r += $3 }
                END { printf "in all %.2f hours, %.0f runs", s, r }' "$scratch/done")"
        ! $keeps || keep "$fuzzer"
    else
        status=1
        echo "$fuzzer: FAILED"
        tail -n 40 "$log"
    fi
done
exit $status
