#!/usr/bin/env bash
# The unit tests, which have been built. What passes is left out; what is skipped is told, and why.
#
#   run-units.sh OPTION…      options of `swift test`
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT

if swift test --skip-build "$@" >"$log" 2>&1; then
    sed -En 's/^➜ (Test|Suite) (.*) skipped: "?([^"]*)"?$/\2: skipped: \3/p' "$log"
    echo "unit tests: $(grep -E '^✔ Test .* passed after' "$log" | grep -cv 'Test run with') passed"
else
    grep -vE '^(◇|✔|➜|Test (Case|Suite) .* (started|passed))' "$log" || true
    exit 1
fi
