#!/usr/bin/env bash
# The unit tests, which have been built. What passes is left out; what is skipped is told, and why.
#
#   run-units.sh OPTION…      options of `swift test`; NAME is what they are called
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT

if swift test --skip-build "$@" >"$log" 2>&1; then
    sed -En 's/^➜ (Test|Suite) (.*) skipped: "?([^"]*)"?$/\2: skipped: \3/p' "$log"
    # A line may begin with what a program wrote behind no line feed.
    echo "${NAME:-unit tests}: $(grep -E '✔ Test .* passed after' "$log" | grep -cv 'Test run with') passed"
elif grep -q 'Test run with' "$log"; then
    # An event can have several lines: where an argument of its test has.
    awk '/^(◇|✔|➜|Test (Case|Suite) )/ { shows = 0 } /^✘/ { shows = 1 } shows' "$log"
    exit 1
else
    tail -n 60 "$log"  # where it broke off
    exit 1
fi
