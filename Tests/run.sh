#!/usr/bin/env bash
# All tests: the unit tests, which have been built, and the programs as they run on a system, which are built here and which
# the scripts of Tests/System try. Of what passes only the result is shown. The last lines count what ran and what was
# skipped, and say why.
#
#   run.sh SCRATCH      where everything is built
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export SCRATCH=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
touch "$folder/skipped"
status=0

# run NAME COMMAND…: a command whose last line is its result; lines that say "skipped" tell what was left out, and why.
run() {
    local name=$1 result began=$SECONDS output="$folder/output of $1" failed=0
    shift
    if "$@" >"$output" 2>&1; then
        grep ': skipped' "$output" >>"$folder/skipped"
        result=$(grep -v ': skipped' "$output" | tail -n 1)
        [[ $result == "$name: "* ]] || result="$name: passed"
    else
        cat "$output"
        result="$name: FAILED"
        failed=1
        status=1
    fi
    echo "$result ($((SECONDS - began)) s)" >>"$folder/results"
    return $failed
}

# The unit tests compute most of the time, those of the programs wait, and what the scripts try is built meanwhile. (The tests
# hold the lock of the folder with the builds, and build nothing.) The scripts come one after the other: browsers and
# booted systemds have limits of their own for what takes long.
programs='DaemonTests\.|GimbalClientTests\.|WebServerTests\.'
units=(Tests/run-units.sh --scratch-path "$SCRATCH" --ignore-lock)
run 'unit tests' "${units[@]}" --skip "$programs" & lanes=($!)
run 'tests of programs' env NAME='tests of programs' "${units[@]}" --filter "$programs" & lanes+=($!)
run 'release build' env GIMBAL_BENCH=1 GIMBAL_MQTT=1 SWIFT_FLAGS=--ignore-lock \
    make --no-print-directory build kernels mqtt & lanes+=($!)
for lane in "${lanes[@]}"; do wait "$lane" || status=1; done
for script in Tests/System/*.sh; do run "$(basename "$script" .sh)" "$script"; done

cat "$folder/results"
sort "$folder/skipped" | sed 's/^/    /' | cat <(echo "skipped: $(wc -l <"$folder/skipped")") -
exit $status
