#!/usr/bin/env bash
# The daemon on a kernel that refuses a third of its calls: sending for lack of buffers, receiving, accepting. No client
# loses a byte: every trace is answered and followed as usual, and so is a client on such a kernel. Prints a last line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=support/container.sh
source Tests/System/support/container.sh
bin=${SCRATCH:-.build}/release

fail() { printf 'faults: FAILED: %s\n' "$*" && exit 1; }

begin_folder

${CC:-cc} -shared -fPIC -O1 -Wall -Werror -o "$folder/faults.so" Tests/System/support/faults.c
for name in sound refused; do
    preload=
    [ $name = sound ] || preload=$folder/faults.so
    LD_PRELOAD=$preload "$bin/gimbald" --socket "$folder/$name" --log-level error 2>"$folder/$name.log" &
    processes+=($!)
done
# A socket is there a moment before its daemon listens.
for name in sound refused; do within 20 "$bin/gimbal" stats --socket "$folder/$name" >/dev/null 2>&1; done

follow() { timeout 60 "$bin/gimbal" replay --socket "$folder/$1" --speed max --follow "$2"; }

count=0
for trace in Protocols/examples/traces/*.ndjson; do
    for name in sound refused; do
        follow $name "$trace" >"$folder/$name.events" || fail "$trace: $(cat "$folder/$name.log")"
    done
    cmp -s "$folder/sound.events" "$folder/refused.events" || fail "$trace is followed by other bytes"
    count=$((count + 1))
done
grep -q . "$folder/refused.events" || fail 'nothing was followed'
grep -q 'cannot accept a connection' "$folder/refused.log" || fail 'nothing was refused'
if grep -v 'cannot accept a connection' "$folder/refused.log"; then fail 'and that was wrong, too'; fi

# Nor does a client whose own sending is refused lose a line.
for id in {1..30}; do echo "{\"type\":\"ping\",\"id\":$id}" && sleep 0.02; done |
    LD_PRELOAD=$folder/faults.so timeout 60 "$bin/gimbal" send --socket "$folder/sound" >"$folder/pongs" ||
    fail 'a client whose sending is refused stands still'
[ "$(grep -c pong "$folder/pongs")" = 30 ] || fail "a client lost lines: $(wc -l <"$folder/pongs") of 30 were answered"
echo "faults: $count traces and a client passed"
