#!/usr/bin/env bash
# The installed daemon allocates nothing per line or delivery: once its buffers are filled, moving fingers cost no
# memory, however many clients read them. And while a client feeds without pause, many subscribers are written to as
# rarely as the turns of the loop allow. Prints how much was allocated or written if it was too much, and a last line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=support/container.sh
source Tests/System/support/container.sh
bin=${SCRATCH:-.build}/release

counter=${SCRATCH:-.build}/bench/allocations.so

begin_folder

make --silent --no-print-directory "$counter"
LD_PRELOAD="$(realpath "$counter")" ALLOCATIONS="$folder/count" "$bin/gimbald" --socket "$folder/socket" \
    --log-level error &
processes+=($!)
# Its socket is there a moment before it listens.
within 20 "$bin/gimbal" stats --socket "$folder/socket" >/dev/null 2>&1

python3 - "$folder" <<'PYTHON' || { echo 'allocations: FAILED' && exit 1; }
import json, math, select, socket, sys, threading

folder = sys.argv[1]

def connect(*requests):
    client = socket.socket(socket.AF_UNIX)
    client.connect(f"{folder}/socket")
    for request in requests:
        client.sendall(request.encode() + b"\n")
    return client, client.makefile("rb")

def counted(number):
    with open(f"{folder}/count", "rb") as file:
        file.seek(8 * number)
        return int.from_bytes(file.read(8), sys.byteorder)

def allocated():
    return counted(0)

def gestures(step):
    """Two fingers on circles, as one frame and as lines of their own."""
    angle, focus = step * 0.1, '"focus":{"x":200.5,"y":400.25}'
    report = '{{"type":"{}","phase":"changed",{},{}}}'.format
    x, y = 40 * math.cos(angle), 40 * math.sin(angle)
    pan = report("pan", focus, f'"translation":{{"x":{x:.3f},"y":{y:.3f}}}')
    pinch = report("pinch", focus, f'"scale":{1.5 + 0.4 * math.sin(angle):.6f}')
    rotate = report("rotate", focus, f'"rotationDeg":{20 * math.cos(angle):.4f}')
    tilt = report("tilt", focus, f'"translation":{{"y":{10 * math.cos(angle):.3f}}}')
    return [f"[{pan},{pinch},{rotate}]", pan, tilt, pinch, rotate]

feed, answers = connect('{"type":"move","update":{"kind":"zoom-to","zoom":14}}')
readers = [connect(f'{{"type":"subscribe","events":{events},"delivery":"{delivery}"}}')[1]
           for events in ('["move-started","camera-changed","idle"]', '["camera-changed"]')
           for delivery in ("every", "latest")]
for reader in readers:
    reader.readline()

def move(steps, lines_at_once):
    """Fingers that move; everybody has read all of it before the next burst."""
    for step in range(0, steps, lines_at_once):
        lines = [line for number in range(step, step + lines_at_once) for line in gestures(number)]
        feed.sendall(("\n".join(lines) + '\n{"type":"get-camera","id":1}\n').encode())
        seq = json.loads(answers.readline())["seq"]
        for reader in readers:
            while json.loads(reader.readline())["seq"] < seq:
                pass

# The history fills first: it keeps 4,096 events and 1 MiB, and frees nothing before.
move(1600, 16)
move(100, 1)
for lines_at_once in (16, 1):
    start = allocated()
    move(64, lines_at_once)
    moved = allocated()
    # The questions that end the bursts are not finger lines: their cost is subtracted.
    for _ in range(64 // lines_at_once):
        feed.sendall(b'{"type":"get-camera","id":1}\n')
        answers.readline()
    number = (moved - start) - (allocated() - moved)
    if start == 0 or number > 0:
        sys.exit(f"{number} allocations for 320 lines in bursts of {5 * lines_at_once}, to {len(readers)} subscribers")

LINES, BURST, SUBSCRIBERS = 20_000, 2000, 100
subscribers = [connect('{"type":"subscribe"}')[0] for _ in range(SUBSCRIBERS)]
for subscriber in subscribers:
    subscriber.recv(1024)
start = counted(1)
for burst in range(0, LINES, BURST):
    # Fewer lines than the history keeps: no client lags, however slow this is.
    lines = "".join(gestures(step)[1] + "\n" for step in range(burst, burst + BURST)).encode()
    feeder = threading.Thread(target=feed.sendall, args=[lines])
    feeder.start()
    left = dict.fromkeys(subscribers, BURST)
    while left:
        for subscriber in select.select(list(left), [], [])[0]:
            left[subscriber] -= subscriber.recv(1 << 20).count(b"\n")
            if left[subscriber] <= 0:
                del left[subscriber]
    feeder.join()
# A turn handles about 200 lines. Twice as many writes allow for clients that are not always ready.
writes, most = counted(1) - start, 2 * SUBSCRIBERS * LINES // 200
print(f"allocations: {writes} writes for {LINES} lines to {SUBSCRIBERS} subscribers, of at most {most}")
if writes > most:
    sys.exit("too many writes")
PYTHON
echo 'allocations: passed'
