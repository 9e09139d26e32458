#!/usr/bin/env bash
# Formats of other tools: MCAP files read by the reader of the format's makers, TUIO fingers sent by python-osc and by
# python-tuio, and fingers that evemu plays on a touchscreen of the kernel. The Python packages are wheels of the
# registry, fetched into a temporary folder. Prints failures, and a last line.
set -euo pipefail
# shellcheck disable=SC2034 # The shared functions have it.
name=exchange
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=support/container.sh
source Tests/System/support/container.sh
programs=$(realpath "${SCRATCH:-.build}")/debug
support=Tests/System/support
export PYTHONDONTWRITEBYTECODE=1

# shellcheck source=support/wheels.sh
source Tests/System/support/wheels.sh
for module in jsonschema lz4 zstandard; do
    has $python $module || { echo "exchange: skipped: other tools' formats: there is no $module" && exit; }
done

begin_folder
fetch_wheels $support/wheels.txt "other tools' formats" || exit 0
PYTHONPATH=$(printf '%s:' "$folder"/*.whl)
export PYTHONPATH

gimbal() { "$programs/gimbal" "$@"; }

# MARK: MCAP

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

# MARK: TUIO

export GIMBAL_SOCKET=$folder/gimbal.sock
begin daemon "$programs/gimbald" --socket "$GIMBAL_SOCKET"
within 60 grep -qs ' is ready: ' "$folder/daemon.errors"
gimbal move --camera table --zoom 3 >/dev/null
gimbal viewport --camera table 800x600 >/dev/null
begin watch "$programs/gimbal" watch --camera table --events touch,idle
# The first fingers are told only once, to those who watch by then.
is_watched() { [ "$(gimbal stats --json | jq .subscriptions)" = 1 ]; }
within 60 is_watched
begin tuio "$programs/gimbal" replay --tuio 0 --camera table
within 60 grep -qs 'receiving TUIO at' "$folder/tuio.errors"
port=$(sed -n 's/.*receiving TUIO at 127.0.0.1:\([0-9]*\).*/\1/p' "$folder/tuio.errors")
send() { $python $support/send-tuio.py "$port" "$@"; }

# has_zoom NUMBER: whether the camera rests there, within the precision of the fingers.
has_zoom() { gimbal wait --camera table >/dev/null && gimbal get --camera table | jq -e "(.position.zoom - $1) | fabs < 0.001"; }
touched() { jq -es "map(select(.type == \"touch\" and $1)) | length > 0" "$folder/watch"; }
check 'fingers come by TUIO 1.1' send 1 first lift
check 'they zoom by what they go apart, whatever is lost' within 20 has_zoom 5
check 'the surface has the name of its source' touched '.surface == "first@127.0.0.1"'
check 'positions are those of the viewport' touched 'any(.touches[]; (.x - 360 | fabs) < 0.001 and .y == 300)'
check 'fingers come by TUIO 2.0, and garbage with them' send 2 second:0@wall garbage
check 'they zoom as far' within 20 has_zoom 7
check 'it is said who sends garbage' grep -q '^TUIO: 127.0.0.1:[0-9]* sent ' "$folder/tuio.errors"
check 'it is said once' [ "$(wc -l <"$folder/tuio.errors")" = 2 ]
check 'a sender goes without lifting its fingers' send 1 third stay
check 'they are cancelled' within 20 touched '.surface == "third@127.0.0.1" and .cancelled'
check 'and the camera rests where they left it' within 20 has_zoom 9
gimbal viewport --camera table 400x300 >/dev/null
check 'fingers come after the viewport has changed' send 1 fourth lift
check 'its new size counts' within 20 touched '.surface == "fourth@127.0.0.1" and any(.touches[]; (.x - 180 | fabs) < 0.001)'
check 'and not for how far they zoom' within 20 has_zoom 11

# python-tuio's own sender: TUIO 1.1 without a source's name, and with -1 for the number of each frame.
send_by_python_tuio() {
    $python -c '
import sys, time
from pythontuio import Cursor, TuioServer
server = TuioServer("127.0.0.1", int(sys.argv[1]))
server.cursors = [Cursor(11), Cursor(12)]
for step in range(61):
    half = 0.05 + 0.15 * step / 60
    server.cursors[0].position, server.cursors[1].position = (0.5 - half, 0.5), (0.5 + half, 0.5)
    server.send_bundle()
    time.sleep(0.01)
server.cursors = []
server.send_bundle()' "$port"
}
gimbal move --camera table --zoom 3 >/dev/null
check 'fingers come by python-tuio' send_by_python_tuio
check 'they zoom as far, too' within 20 has_zoom 5
check 'their surface has the name of their address' touched \
    '(.surface | test("^127.0.0.1:[0-9]+$")) and (.touches | length) == 2'

begin default "$programs/gimbal" replay --tuio --camera other
check 'a port that is not named is 3333' within 20 \
    grep -q ' TUIO at 127.0.0.1:3333' "$folder/default.errors"
refused() { [ "$(timeout 20 "$programs/gimbal" replay "--tuio=$1" 2>/dev/null || echo $?)" = "$2" ]; }
check 'a port that is none is an error' refused 65536 64
check 'a port that is taken is an error' refused "$port" 69

# MARK: A touchscreen of the kernel

play() { evemu-play "$node" <"$folder/pinch"; }
ends_as_told() { diff <(gimbal get --camera screen | jq .position) <(tail -n 1 "$folder/pinch.golden" | jq .position); }
if [ ! -w /dev/uinput ] || ! command -v evemu-device >/dev/null; then
    echo 'exchange: skipped: fingers on a touchscreen of the kernel: that takes /dev/uinput and evemu-tools'
else
    gimbal convert Protocols/examples/traces/pinch-and-rotate.ndjson --to evemu -o "$folder/pinch" \
        --expected "$folder/pinch.golden" 2>/dev/null
    gimbal move --camera screen --target 48.8584,2.2945 --zoom 14 >/dev/null
    begin screen evemu-device "$folder/pinch"
    within 20 grep -qs ': /dev/input/' "$folder/screen"
    node=$(sed -n 's|.*: /dev/input|/dev/input|p' "$folder/screen")
    begin live "$programs/gimbal" replay --device "$node" --viewport 390x844 --camera screen
    within 20 bash -c "ls -l /proc/${processes[-1]}/fd | grep -q '$node'"
    check 'evemu-play performs what is converted' play
    check 'the camera ends where it should' within 20 ends_as_told
fi

conclude
