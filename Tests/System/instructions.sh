#!/usr/bin/env bash
# The number of instructions that a gesture line costs on its way through the hub, live and in a replay, in each stage
# alone, the extra cost of one of 100 subscribers, and of a gesture in a frame of 64 active ones: none exceeds its
# limit, which is some 15 % above the cost when it was set. The same on any machine and under any load, except for the C
# library's processor-specific code.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
command -v valgrind >/dev/null || { echo 'instructions: skipped: there is no valgrind here' && exit 0; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
make --silent --no-print-directory kernels
# valgrind does not read the debugging information of new compilers.
strip --strip-debug -o "$folder/kernels" "${SCRATCH:-.build}/release/kernels"

# counted PART COUNT: prints the instructions of the whole program, including its start.
counted() {
    valgrind -q --tool=callgrind --callgrind-out-file="$folder/out" "$folder/kernels" "$1" "$2" >/dev/null
    sed -n 's/^\(summary\|totals\): //p' "$folder/out" | head -n 1
}

failed=
while read -r part limit; do
    # By then the history is full: from there on, each line costs the same.
    cost=$((($(counted "$part" 24576) - $(counted "$part" 8192)) / 16384))
    echo "$part: $cost instructions of at most $limit"
    [ "$cost" -le "$limit" ] || failed=1
done <<'LIMITS'
hub 4050
replay 4950
decoder 2100
camera 450
encoder 810
delivery 795
frame 10400
LIMITS
[ -z "$failed" ] || { echo 'instructions: FAILED' && exit 1; }
echo 'instructions: passed'
