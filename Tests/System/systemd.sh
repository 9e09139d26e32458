#!/usr/bin/env bash
# The units: first as systemd-analyze sees them, then under a systemd that boots for them, in a container over a
# throw-away overlay of this machine. Nothing outside a temporary folder changes. It says what fails, and a last line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

passed=0
failed=0

# check NAME COMMAND…: runs the command; if it fails, the end of what it prints is shown.
check() {
    local name=$1 output
    shift
    if output=$("$@" 2>&1); then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'systemd: FAILED: %s\n' "$name"
        [ -z "$output" ] || tail -n 15 <<<"$output" | sed 's/^/    /'
    fi
}

# within SECONDS COMMAND…: tries until it succeeds.
within() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.05
    done
}

# MARK: Inside the container

socket=/run/gimbal/gimbal.sock
watch_socket=/run/gimbal/watch.sock
zoom_in='{"type":"move","id":1,"update":{"kind":"zoom-in"}}'
trace=/usr/share/doc/gimbal/Protocols/examples/traces/pinch-and-rotate.ndjson

state() { systemctl show --value --property "$1" "${2:-gimbald.service}"; }
is() { [ "$(state "$1")" = "$2" ] || { printf '%s is "%s", not "%s"\n' "$1" "$(state "$1")" "$2" && false; }; }
status_says() { grep -q "$1" <<<"$(state StatusText)" || { state StatusText && false; }; }
process_has() { grep "${1%%:*}" "/proc/$(state MainPID)/status" | tee /dev/stderr | grep -Pq "$1"; }

# exchange LINE: what the daemon answers.
exchange() { socat -t 5 - "UNIX-CONNECT:$socket" <<<"$1"; }
answers() { exchange '{"type":"ping","id":1}' | grep -qx '{"type":"pong","id":1}'; }
# as_other GROUP COMMAND…: as somebody who has only this group.
as_other() { setpriv --reuid nobody --regid nogroup --groups "$1" "${@:2}"; }

replays() {
    local answer
    answer=$(gimbal replay --socket "$socket" --speed max "$trace") || return
    grep -q '"type":"trace-ended".*"rejected":0,' <<<"$answer" || { echo "$answer" && false; }
}

has_no_swift_library() {
    local libraries
    libraries=$(ldd "$1") && ! grep -E 'libswift|libFoundation|libdispatch|not found' <<<"$libraries"
}

socket_activation() {
    check 'systemd-sysusers makes the user' systemd-sysusers
    check 'the user has its group and no shell' \
        grep -Eq '^gimbal:[^:]*:[0-9]+:[0-9]+:[^:]*:/var/lib/gimbal:[^:]*/nologin$' /etc/passwd
    check 'gimbald.socket starts' systemctl start gimbald.socket
    check 'the daemon waits for a client' is ActiveState inactive
    check 'the socket is for its group' [ "$(stat -c '%U:%G:%a' $socket)" = gimbal:gimbal:660 ]
    check 'a member of the group replays a trace' as_other gimbal bash -c "$(declare -f replays)
        socket=$socket trace=$trace replays"
    check 'who is not in the group may not connect' bash -c "$(declare -f as_other)
        ! as_other nogroup socat -u OPEN:/dev/null UNIX-CONNECT:$socket 2>/dev/null"
}

service() {
    check 'the service is active' is ActiveState active
    check 'it says what it does' status_says '0 connections'
    check 'it runs as gimbal' [ "$(ps -o user= -p "$(state MainPID)")" = gimbal ]
    check 'it has no capabilities' process_has '^CapBnd:\t0+$'
    check 'it gains no privileges' process_has '^NoNewPrivs:\t1$'
    check 'its system calls are filtered' process_has '^Seccomp:\t2$'
    check 'it has room for all its clients' awk '/^Max open files/ { exit $4 < 1088 }' "/proc/$(state MainPID)/limits"
}

ending_and_failing() {
    check 'it stops in order' systemctl stop gimbald.service
    check 'it ended well' is Result success
    check 'its socket outlives it, and starts it anew' answers
    check 'its cameras outlive it' cameras_outlive_it
    check 'a restart under load loses no client and no event' restart_drops_nobody
    check 'it has given back what was kept for it' is NFileDescriptorStore 0
    check 'on SIGUSR2 it begins anew within its sandbox' begins_anew
    local before
    before=$(state MainPID)
    systemctl kill --signal KILL gimbald.service
    check 'after a crash it comes back' within 10 replaced "$before"
    check 'and answers' within 5 answers
    check 'a wrong option is not tried again' refuses_wrong_option
}

# What `subscribed` tells is the same before and after: epoch, seq and position.
cameras_outlive_it() {
    local before after
    before=$(exchange '{"type":"subscribe"}')
    systemctl stop gimbald.service && after=$(exchange '{"type":"subscribe"}') || return
    grep -q '"seq":[1-9]' <<<"$before" && [ "$after" = "$before" ] || { printf '%s\n' "$before" "$after" && false; }
}

# Three restarts under load: every subscriber gets every seq, and the feeder every answer.
restart_drops_nobody() {
    local lines=3000 before restart client
    folder=$(mktemp -d)
    systemctl reset-failed gimbald.service
    for client in 1 2 3 4; do
        { echo '{"type":"subscribe","camera":"restarted"}' && sleep 60; } 2>/dev/null |
            socat -t 60 - "UNIX-CONNECT:$socket" >"$folder/client$client" 2>/dev/null &
        within 5 grep -q subscribed "$folder/client$client" || return
    done
    { feed $lines && sleep 60; } 2>/dev/null |
        socat -t 60 - "UNIX-CONNECT:$socket" >"$folder/answers" 2>/dev/null &
    for restart in 1 2 3; do
        within 10 are_answered $((restart * lines / 5)) || return
        before=$(state MainPID)
        systemctl restart gimbald.service && replaced "$before" || return
    done
    within 20 all_is_there $lines || { tail -n 1 "$folder"/* && return 1; }
}

are_answered() { [ "$(wc -l <"$folder/answers")" -ge "$1" ]; }

begins_anew() {
    local before count
    before=$(state MainPID)
    count=$(times_gone_on)
    systemctl kill --signal USR2 gimbald.service
    within 5 has_gone_on "$count" && is MainPID "$before" && is ActiveState active && answers
}

times_gone_on() { journalctl --unit gimbald.service --output cat | grep -c 'cameras go on' || true; }
has_gone_on() { [ "$(times_gone_on)" -gt "$1" ]; }

# feed LINES: moves, a few hundred at a time.
feed() {
    local line
    for ((line = 1; line <= $1; line++)); do
        printf '{"type":"move","id":%d,"camera":"restarted","update":{"kind":"set-bearing","bearing":%d}}\n' \
            "$line" $((line % 359 + 1))
        [ $((line % 200)) != 0 ] || sleep 0.1
    done
}

# all_is_there LINES: three events for each line in every client's file, and an answer to each.
all_is_there() {
    local client
    for client in "$folder"/client*; do
        grep -v subscribed "$client" | grep -o '"seq":[0-9]*' | cmp -s - <(seq -f '"seq":%.0f' $(($1 * 3))) || return
    done
    grep -o '[0-9]*' "$folder/answers" | cmp -s - <(seq "$1")
}

replaced() { [ "$(state ActiveState)" = active ] && [ "$(state MainPID)" != "$1" ]; }

# with SECTION-LINES…: a drop-in for the service.
with() {
    mkdir -p /run/systemd/system/gimbald.service.d
    printf '%s\n' '[Service]' "$@" >/run/systemd/system/gimbald.service.d/test.conf
    systemctl daemon-reload
}

refuses_wrong_option() {
    with ExecStart= 'ExecStart=/usr/bin/gimbald --wrong'
    ! systemctl restart gimbald.service 2>/dev/null && is ExecMainStatus 64 && is NRestarts 0
}

watchdog() {
    with WatchdogSec=1
    systemctl reset-failed gimbald.service
    systemctl restart gimbald.socket gimbald.service
    local before
    before=$(state MainPID)
    exchange '{"type":"get-camera"}' >/dev/null
    sleep 2.5
    check 'its signs of life come in time' is MainPID "$before"
    check 'its status keeps up' status_says '2 cameras'
    systemctl kill --signal STOP gimbald.service
    check 'when it hangs it is started anew' within 10 replaced "$before"
}

without_socket_unit() {
    with WatchdogSec=15
    systemctl stop gimbald.socket gimbald.service
    check 'the socket unit takes its socket away' [ ! -e $socket ]
    systemctl mask --runtime --quiet gimbald.socket
    check 'it starts without the socket unit' systemctl start gimbald.service
    check 'its own socket is for its group too' [ "$(stat -c '%U:%G:%a' $socket)" = gimbal:gimbal:660 ]
    check 'and answers' answers
    check 'it stops' systemctl stop gimbald.service
    check 'it takes its own socket away' [ ! -e $socket ]
}

# The watch socket goes with the other one; who is not of the group may then watch, and a group of the socket's may feed.
watching() {
    local process
    systemctl unmask --runtime --quiet gimbald.socket
    with 'ExecStart=' 'ExecStart=/usr/bin/gimbald --allow-group backup'
    check 'the watch socket starts' systemctl start gimbald.socket gimbald-watch.socket
    check 'it is for everybody' [ "$(stat -c '%U:%G:%a' $watch_socket)" = gimbal:gimbal:666 ]
    check 'who comes by it may watch' answers_to nogroup $watch_socket '{"type":"subscribe"}' '"subscribed"'
    check 'the daemon has both sockets' is ActiveState active
    check 'and nothing else' answers_to nogroup $watch_socket "$zoom_in" '"denied".*watch socket'
    check 'a member of the allowed group may feed' answers_to gimbal,backup $socket "$zoom_in" '"ok"'
    check 'who is only let in may not' answers_to gimbal $socket "$zoom_in" '"denied".*--allow-group'
    process=$(state MainPID)
    check 'it restarts' systemctl restart gimbald.service
    check 'it is another process' replaced "$process"
    check 'the watch socket is the same' answers_to nogroup $watch_socket "$zoom_in" '"denied".*watch socket'
    check 'on SIGUSR2 too' begins_anew
    check 'it is still the same' answers_to nogroup $watch_socket "$zoom_in" '"denied".*watch socket'
    check 'and once more' begins_anew
    check 'both sockets are there' answers_to gimbal,backup $socket "$zoom_in" '"ok"'
    check 'its daemon ends' systemctl stop gimbald.socket gimbald-watch.socket gimbald.service
    check 'the watch socket is taken away' [ ! -e $watch_socket ]
}

# answers_to GROUPS SOCKET LINE PATTERN: what somebody with these groups is answered.
answers_to() {
    local answer
    answer=$(as_other "$1" socat -t 5 - "UNIX-CONNECT:$2" <<<"$3") && grep -q "$4" <<<"$answer" ||
        { echo "$answer" && false; }
}

# A user's service manager, started by hand: without a login there is none.
user_units() {
    local id=64321
    echo "tester:x:$id:$id::/tmp:/bin/sh" >>/etc/passwd
    install -d -o $id -g $id -m 700 /run/user/$id
    systemd-run --quiet --unit user-manager --property Delegate=yes --property User=$id \
        --setenv XDG_RUNTIME_DIR=/run/user/$id --service-type notify /lib/systemd/systemd --user
    as_user() { setpriv --reuid $id --regid $id --clear-groups env XDG_RUNTIME_DIR=/run/user/$id "$@"; }
    socket=/run/user/$id/gimbal.sock
    check "a user's socket starts" as_user systemctl --user start gimbald.socket
    check "a user's daemon answers" answers
    check "a user's daemon is active" as_user systemctl --user --quiet is-active gimbald.service
    local process
    process=$(as_user systemctl --user show --value --property MainPID gimbald.service)
    check "a user's daemon is that user's" [ "$(stat -c %u "/proc/$process")" = $id ]
    check "a user's daemon has its system calls filtered" grep -Pq '^Seccomp:\t2$' "/proc/$process/status"
    check "a user's daemon stops" as_user systemctl --user stop gimbald.service gimbald.socket
}

inside() {
    cp -a /test/tree/. /
    systemctl daemon-reload
    for program in gimbald gimbal; do
        check "$program needs no library of Swift's" has_no_swift_library /usr/bin/$program
    done
    socket_activation
    service
    ending_and_failing
    watchdog
    without_socket_unit
    watching
    user_units
    if [ $failed != 0 ]; then
        echo 'The end of the journal:'
        journalctl --no-pager --quiet --boot --unit gimbald.service --lines 40 | sed 's/^/    /' || true
    fi
    echo "$passed $failed" >/test/counts
}

# MARK: Outside

silent() {
    local output
    output=$("$@" 2>&1) && [ -z "$output" ] || { printf '%s\n' "$output" && false; }
}

analyse() {
    local root=$folder/prefix units
    units=$root/lib/systemd
    make --no-print-directory --silent install DESTDIR= PREFIX="$root"
    check 'the units start what is installed' \
        grep -q "^ExecStart=$root/bin/gimbald" "$units/system/gimbald.service" "$units/user/gimbald.service"
    check 'systemd-analyze verify: system units' silent \
        systemd-analyze verify "$units/system/gimbald.service" "$units/system/gimbald.socket" \
        "$units/system/gimbald-watch.socket"
    check 'systemd-analyze verify: user units' silent env HOME="$folder" XDG_RUNTIME_DIR="$folder" \
        systemd-analyze --user verify "$units/user/gimbald.service" "$units/user/gimbald.socket"
    check 'systemd-analyze security: 1.0 or better' \
        systemd-analyze security --no-pager --offline=true --threshold=10 "$units/system/gimbald.service"
    check 'man pages and completions are installed' has_manual "$root/share"
    check 'uninstalling leaves no file' uninstall "$root"
}

has_manual() {
    local file
    for file in man/man1/gimbal.1 man/man1/gimbal-watch.1 man/man8/gimbald.8 \
        {bash-completion/completions/,zsh/site-functions/_}{gimbal,gimbald} fish/vendor_completions.d/{gimbal,gimbald}.fish
    do
        [ -s "$1/$file" ] || { echo "there is no $1/$file" && return 1; }
    done
}

uninstall() {
    local left
    make --no-print-directory --silent uninstall DESTDIR= PREFIX="$1" && left=$(find "$1" ! -type d) || return
    [ -z "$left" ] || { echo "$left" && false; }
}

# Why nothing can be booted here; empty if it can.
obstacle() {
    [ "$(id -u)" = 0 ] || { echo 'that takes root' && return; }
    command -v systemd-nspawn >/dev/null || { echo 'there is no systemd-nspawn' && return; }
    unshare --mount true 2>/dev/null || echo 'mounting is not allowed here'
}

control_groups() { find /sys/fs/cgroup -type d \( -name payload -o -name supervisor \) 2>/dev/null | sort; }

boot() {
    local before name=gimbal-$$
    before=$(control_groups)
    make --no-print-directory --silent install DESTDIR="$folder/test/tree" PREFIX=/usr
    cp Tests/System/systemd.sh "$folder/test"
    printf '%s\n' '#!/bin/sh' 'touch /test/begun' 'exec bash /test/systemd.sh inside >/test/output 2>&1' \
        >"$folder/test/run"
    chmod +x "$folder/test/run"
    # shellcheck disable=SC2016 # It is the inner shell that expands these.
    timeout --kill-after 5 120 unshare --mount bash -euc '
        mount --bind / "$1/host"
        exec systemd-nspawn --quiet -D "$1/host" --volatile=overlay --boot --register=no --keep-unit -M "$2" \
            --console=pipe --bind="$1/test:/test" systemd.run=/test/run \
            systemd.run_success_action=exit-force systemd.run_failure_action=exit-force </dev/null
    ' boot "$folder" "$name" >"$folder/nspawn.log" 2>&1 || true
    # With --keep-unit it leaves its control groups behind.
    comm -13 <(echo "$before") <(control_groups) | while read -r group; do
        find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true
    done
}

# What the checks in the container came to.
take_counts() {
    local inner_passed inner_failed
    cat "$folder/test/output"
    if [ -e "$folder/test/counts" ]; then
        read -r inner_passed inner_failed <"$folder/test/counts"
        passed=$((passed + inner_passed))
        failed=$((failed + inner_failed))
    else
        failed=$((failed + 1))
        echo 'systemd: FAILED: the checks in the container did not come to their end'
        sed 's/^/    /' "$folder/nspawn.log"
    fi
}

main() {
    command -v systemd-analyze >/dev/null || { echo 'systemd: skipped: there is no systemd here' && exit 0; }
    folder=$(mktemp -d)
    trap 'rm -rf --one-file-system "$folder"' EXIT
    analyse
    local reason
    reason=$(obstacle)
    if [ -z "$reason" ]; then
        mkdir -p "$folder/host" "$folder/test/tree"
        boot
        if [ -e "$folder/test/begun" ]; then
            take_counts
        else
            reason="no container boots here: $(tail -n 1 "$folder/nspawn.log")"
        fi
    fi
    [ -z "$reason" ] || echo "systemd: skipped running the units: $reason"
    [ $failed = 0 ] || { echo "systemd: $failed checks failed" && exit 1; }
    echo "systemd: $passed checks passed"
}

if [ "${1:-}" = inside ]; then inside; else main; fi
