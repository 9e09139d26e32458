# shellcheck shell=bash
# Shared by the test scripts: checks and their counts, programs that end with the script, and, for those that test
# Gimbal under a separate systemd, a container over a throw-away overlay of this machine and, inside it, queries to
# clients and units. Nothing outside a temporary folder changes. A script that checks sets `name`, which begins its
# lines.

passed=0
failed=0

# check NAME COMMAND…: runs the command; if it fails, shows the end of its output.
check() {
    local name_of_check=$1 output
    shift
    if output=$("$@" 2>&1); then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf '%s: FAILED: %s\n' "$name" "$name_of_check"
        [ -z "$output" ] || tail -n 15 <<<"$output" | sed 's/^/    /'
    fi
}

# within SECONDS COMMAND…: retries until it succeeds.
within() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.05
    done
}

# silent COMMAND…: whether it succeeds and prints nothing; prints what it has printed.
silent() { local output && output=$("$@" 2>&1) && [ -z "$output" ] || { echo "$output" && false; }; }

# Debian's own Python has Debian's modules; another one may precede it in the PATH, and have pip.
python=python3
[ ! -x /usr/bin/python3 ] || python=/usr/bin/python3
has() { "$1" -c "import $2" 2>/dev/null; }

# begin_folder: makes $folder, which is removed when the script ends; the `processes` it has started end as well.
begin_folder() {
    folder=$(mktemp -d)
    processes=()
    trap end_folder EXIT
}

# begin NAME PROGRAM…: starts a program; its output goes to files of this name.
begin() {
    local file=$folder/$1
    shift
    "$@" >"$file" 2>"$file.errors" &
    processes+=($!)
}

end_folder() {
    for process in "${processes[@]}"; do kill "$process" && wait "$process" || true; done 2>/dev/null
    rm -rf "$folder"
}

# MARK: Outside

# Prints why no system can be booted here; nothing if one can.
obstacle() {
    [ "$(id -u)" = 0 ] || { echo 'that takes root' && return; }
    command -v systemd-nspawn >/dev/null || { echo 'there is no systemd-nspawn' && return; }
    unshare --mount true 2>/dev/null || echo 'mounting is not allowed here'
}

control_groups() { find /sys/fs/cgroup -type d \( -name payload -o -name supervisor \) 2>/dev/null | sort; }

# boot SCRIPT SECONDS: runs `SCRIPT inside` in a container, where $folder/test is /test, including what it leaves there.
boot() {
    local before machine=gimbal-$$
    before=$(control_groups)
    mkdir -p "$folder/host" "$folder/test/support"
    cp "$1" "$folder/test/script.sh"
    cp Tests/System/support/container.sh "$folder/test/support"
    printf '%s\n' '#!/bin/sh' 'touch /test/begun' 'exec bash /test/script.sh inside >/test/output 2>&1' \
        >"$folder/test/run"
    chmod +x "$folder/test/run"
    # By nspawn's default filter, a container that may not set a clock may not query its quality either.
    # shellcheck disable=SC2016 # It is the inner shell that expands these.
    timeout --kill-after 5 "$2" unshare --mount bash -euc '
        mount --bind / "$1/host"
        exec systemd-nspawn --quiet -D "$1/host" --volatile=overlay --boot --register=no --keep-unit -M "$2" \
            --system-call-filter="adjtimex clock_adjtime" --console=pipe --bind="$1/test:/test" systemd.run=/test/run \
            systemd.run_success_action=exit-force systemd.run_failure_action=exit-force </dev/null
    ' boot "$folder" "$machine" >"$folder/nspawn.log" 2>&1 || true
    # With --keep-unit it leaves its control groups behind.
    comm -13 <(echo "$before") <(control_groups) | while read -r group; do
        find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true
    done
}

# Adds the counts of the checks in the container.
take_counts() {
    local inner_passed inner_failed
    cat "$folder/test/output"
    if [ -e "$folder/test/counts" ]; then
        read -r inner_passed inner_failed <"$folder/test/counts"
        passed=$((passed + inner_passed))
        failed=$((failed + inner_failed))
    else
        failed=$((failed + 1))
        printf '%s: FAILED: the checks in the container did not come to their end\n' "$name"
        sed 's/^/    /' "$folder/nspawn.log"
    fi
}

# run_inside SCRIPT SECONDS WHAT: boots, or prints why that is impossible.
run_inside() {
    local reason
    reason=$(obstacle)
    if [ -z "$reason" ]; then
        boot "$1" "$2"
        if [ -e "$folder/test/begun" ]; then
            take_counts
        else
            reason="no container boots here: $(tail -n 1 "$folder/nspawn.log")"
        fi
    fi
    [ -z "$reason" ] || printf '%s: skipped %s: %s\n' "$name" "$3" "$reason"
}

# Prints the last line.
conclude() {
    [ $failed = 0 ] || { printf '%s: %d checks failed\n' "$name" $failed && exit 1; }
    printf '%s: %d checks passed\n' "$name" $passed
}

# MARK: Inside

# leave_counts: writes the counts for take_counts; after a failure prints the end of the journal.
leave_counts() {
    if [ $failed != 0 ]; then
        echo 'The end of the journal:'
        journalctl --no-pager --quiet --boot --unit gimbald.service --lines 60 | sed 's/^/    /' || true
    fi
    echo "$passed $failed" >/test/counts
}

socket=/run/gimbal/gimbal.sock
watch_socket=/run/gimbal/watch.sock
# The service manager to query: `as_user systemctl --user` for a user's.
manager=(systemctl)

state() { "${manager[@]}" show --value --property "$1" "${2:-gimbald.service}"; }
is() { [ "$(state "$1")" = "$2" ] || { printf '%s is "%s", not "%s"\n' "$1" "$(state "$1")" "$2" && false; }; }
has_no_process() { ! pgrep --exact --list-full gimbald; }
status_says() { grep -q "$1" <<<"$(state StatusText)" || { state StatusText && false; }; }
replaced() { [ "$(state ActiveState)" = active ] && [ "$(state MainPID)" != "$1" ]; }

# exchange LINE: prints the daemon's answer.
exchange() { socat -t 5 - "UNIX-CONNECT:$socket" <<<"$1"; }
answers() { exchange '{"type":"ping","id":1}' | grep -qx '{"type":"pong","id":1}'; }
# as_other GROUP COMMAND…: runs a command as another user with only this group.
as_other() { setpriv --reuid nobody --regid nogroup --groups "$1" "${@:2}"; }

# begin_user: makes a user with a service manager started by the login manager; `as_user COMMAND…` runs as that user.
begin_user() {
    useradd --create-home tester && user=$(id -u tester) &&
        systemctl start dbus.socket systemd-logind.service && loginctl enable-linger tester &&
        within 20 [ -S "/run/user/$user/systemd/private" ]
}

as_user() {
    setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups env HOME=/home/tester \
        XDG_RUNTIME_DIR="/run/user/$user" "$@"
}

# MARK: Inside: clients that must not be dropped

# drops_nobody ROUNDS COMMAND…: four clients subscribe and one feeds while the command runs once per round; every
# subscriber gets every seq, and the feeder every answer.
drops_nobody() {
    local rounds=$1 lines=$((1000 * $1)) round client feeder clients
    shift
    folder=$(mktemp -d)
    camera=$(basename "$folder")
    clients=()
    for client in 1 2 3 4; do
        { printf '{"type":"subscribe","camera":"%s"}\n' "$camera" && sleep 60; } 2>/dev/null |
            socat -t 60 - "UNIX-CONNECT:$socket" >"$folder/client$client" 2>/dev/null &
        clients+=($!)
        within 5 grep -q subscribed "$folder/client$client" || return
    done
    { feed $lines && sleep 60; } 2>/dev/null |
        socat -t 60 - "UNIX-CONNECT:$socket" >"$folder/answers" 2>/dev/null &
    feeder=$!
    for ((round = 1; round <= rounds; round++)); do
        within 20 are_answered $((lines * (2 * round - 1) / (2 * rounds))) && "$@" || return
    done
    within 20 all_is_there $lines || { tail -n 1 "$folder"/* && return 1; }
    kill "$feeder" "${clients[@]}" 2>/dev/null || true
}

are_answered() { [ "$(wc -l <"$folder/answers")" -ge "$1" ]; }

# feed LINES: prints moves, a few hundred at a time.
feed() {
    local line
    for ((line = 1; line <= $1; line++)); do
        printf '{"type":"move","id":%d,"camera":"%s","update":{"kind":"set-bearing","bearing":%d}}\n' \
            "$line" "$camera" $((line % 359 + 1))
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

# replay_goes_on COMMAND…: a replay that was paused and stepped is unchanged after the command, and plays to its end.
replay_goes_on() {
    folder=$(mktemp -d)
    camera=$(basename "$folder")
    local zoom owner
    {
        printf '{"type":"trace","id":7,"version":1,"camera":"%s","paused":true,"speed":"max"}\n' "$camera"
        for zoom in 3 4 5 6; do
            printf '{"type":"move","timeMs":%d000,"update":{"kind":"zoom-to","zoom":%d}}\n' "$zoom" "$zoom"
        done
        printf '{"type":"trace-end"}\n'
        sleep 60
    } 2>/dev/null | socat -t 60 - "UNIX-CONNECT:$socket" >"$folder/owner" 2>/dev/null &
    owner=$!
    within 5 replay_is '"state":"paused","timeMs":0' && steer step-replay ',"count":2' &&
        within 5 replay_is '"state":"paused","timeMs":1000' && "$@" && replay_is '"state":"paused","timeMs":1000' &&
        steer resume-replay && within 5 grep -q '"type":"trace-ended","id":7,"events":4' "$folder/owner" || return
    kill "$owner" 2>/dev/null || true
}

steer() { exchange "{\"type\":\"$1\",\"camera\":\"$camera\",\"id\":1${2-}}" | grep -q '"ok"'; }
replay_is() { exchange "{\"type\":\"get-replay\",\"camera\":\"$camera\"}" | grep -q "$1"; }

# restarts: restarts the service, as another process.
restarts() {
    local before
    before=$(state MainPID)
    "${manager[@]}" restart gimbald.service && replaced "$before"
}

# reloads: restarts in place. It has happened when the command returns.
reloads() {
    local before count
    before=$(state MainPID)
    count=$(times_continued)
    "${manager[@]}" reload gimbald.service && is MainPID "$before" && is ActiveState active || return
    # The journal may lag a little.
    within 5 has_continued "$count"
}

times_continued() { journalctl "_PID=$(state MainPID)" --output cat | grep -c ' continue$' || true; }
has_continued() { [ "$(times_continued)" -gt "$1" ]; }
