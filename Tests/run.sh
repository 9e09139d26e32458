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

# What takes the processor and what waits, side by side. The unit tests hold the lock of the folder with the builds, and
# build nothing; so the others may build there meanwhile, one after the other. Of those that boot a systemd there is one at a
# time, too: two of them get in each other's control groups.
export SWIFT_FLAGS=--ignore-lock
programs='DaemonTests\.|GimbalClientTests\.|WebServerTests\.'
units=(Tests/run-units.sh --scratch-path "$SCRATCH" --ignore-lock)
builders='debian documentation instructions packages systemd'
# Browsers draw without a graphics card, which takes all that a machine has: they come last.
browsers='adapters page'

# scripts NAME…: runs scripts of Tests/System, one after the other.
scripts() {
    local failed=0 name
    for name in "$@"; do run "$name" "Tests/System/$name.sh" || failed=1; done
    return $failed
}

lanes=()
run 'unit tests' "${units[@]}" --skip "$programs" & lanes+=($!)
run 'tests of programs' env NAME='tests of programs' "${units[@]}" --filter "$programs" & lanes+=($!)
if run 'release build' env GIMBAL_BENCH=1 GIMBAL_MQTT=1 make --no-print-directory build kernels mqtt; then
    # shellcheck disable=SC2086
    scripts $builders & lanes+=($!)
    named="$builders $browsers"
    others=$(for script in Tests/System/*.sh; do basename "$script" .sh; done | grep -vxF "${named// /$'\n'}")
    # shellcheck disable=SC2086
    scripts $others $browsers & lanes+=($!)
fi
for lane in "${lanes[@]}"; do wait "$lane" || status=1; done

cat "$folder/results"
sort "$folder/skipped" | sed 's/^/    /' | cat <(echo "skipped: $(wc -l <"$folder/skipped")") -
exit $status
