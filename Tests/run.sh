#!/usr/bin/env bash
# All tests, which have been built with the programs: the unit tests, then the programs as they run on a system, which the
# scripts of Tests/System try. Of what passes only the result is shown. The last lines count what ran and what was
# skipped, and say why.
#
#   run.sh SCRATCH      where everything has been built
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export SCRATCH=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
touch "$folder/skipped"
status=0

# run NAME COMMAND…: a command whose last line is its result; lines that say "skipped" tell what was left out, and why.
run() {
    local name=$1 result began=$SECONDS
    shift
    if "$@" >"$folder/output" 2>&1; then
        grep ': skipped' "$folder/output" >>"$folder/skipped"
        result=$(grep -v ': skipped' "$folder/output" | tail -n 1)
        [[ $result == "$name: "* ]] || result="$name: passed"
    else
        cat "$folder/output"
        result="$name: FAILED"
        status=1
    fi
    echo "$result ($((SECONDS - began)) s)" >>"$folder/results"
}

run 'unit tests' Tests/run-units.sh --scratch-path "$SCRATCH"
for script in Tests/System/*.sh; do run "$(basename "$script" .sh)" "$script"; done

cat "$folder/results"
sort "$folder/skipped" | sed 's/^/    /' | cat <(echo "skipped: $(wc -l <"$folder/skipped")") -
exit $status
