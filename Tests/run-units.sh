#!/usr/bin/env bash
# Runs the unit tests, which must be built. Omits those that pass, and prints what was skipped, and why.
#
#   run-units.sh OPTION…      options of `swift test`; NAME is the name of this run
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT

if swift test --skip-build "$@" >"$log" 2>&1; then
    sed -En 's/^➜ (Test|Suite) (.*) skipped: "?([^"]*)"?$/\2: skipped: \3/p' "$log"
    # The lines of single tests may be torn by what programs print.
    total=$(LC_ALL=C sed -n 's/.*Test run with \([0-9]*\) tests* .*/\1/p' "$log" | tail -n 1)
    [ "${total:-0}" -gt 0 ] || { tail -n 60 "$log" && exit 1; }
    echo "${NAME:-unit tests}: $((total - $(grep -ac '^➜ Test .* skipped' "$log" || true))) passed"
elif grep -aq 'Test run with' "$log"; then
    # An event has several lines if an argument of its test has.
    awk '/^(◇|✔|➜|Test (Case|Suite) )/ { shows = 0 } /^✘/ { shows = 1 } shows' "$log"
    exit 1
else
    tail -n 60 "$log"  # where it broke off
    exit 1
fi
