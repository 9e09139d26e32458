#!/usr/bin/env bash
# The units: first checked by systemd-analyze, then run under a systemd booted for them, in a container over a
# throw-away overlay of this machine. Nothing outside a temporary folder changes. Prints failures, and a last line.
set -euo pipefail
# shellcheck disable=SC2034 # The shared functions have it.
name=systemd
# shellcheck source=support/container.sh
source "$(dirname "${BASH_SOURCE[0]}")/support/container.sh"
[ "${1:-}" = inside ] || cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# MARK: Inside the container

zoom_in='{"type":"move","id":1,"update":{"kind":"zoom-in"}}'
trace=/usr/share/doc/gimbal/Protocols/examples/traces/pinch-and-rotate.ndjson

process_has() { grep "${1%%:*}" "/proc/$(state MainPID)/status" | tee /dev/stderr | grep -Pq "$1"; }

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
    check 'the journal finds the line that it is ready' within 5 entry ca709d7ad6814298815d7d05b7191c69 '"SYSLOG_IDENTIFIER":"gimbald"'
    check 'it has room for all its clients' awk '/^Max open files/ { exit $4 < 1088 }' "/proc/$(state MainPID)/limits"
}

ending_and_failing() {
    check 'it stops in order' "${manager[@]}" stop gimbald.service
    check 'it ended well' is Result success
    check 'its socket outlives it, and starts it anew' answers
    check 'its cameras outlive it' cameras_outlive_it
    check 'restarts under load lose no client and no event' drops_nobody 3 restarts
    check 'it has given back what was kept for it' is NFileDescriptorStore 0
    check 'reloads under load lose no client and no event' drops_nobody 3 reloads
    check 'a paused replay outlives a restart' replay_goes_on restarts
    check 'and a reload' replay_goes_on reloads
    check 'however often it is restarted, that is no failure' restarts_often
    local before
    before=$(state MainPID)
    "${manager[@]}" kill --kill-whom main --signal KILL gimbald.service
    check 'after a crash it comes back' within 10 replaced "$before"
    check 'and answers' within 5 answers
    check 'a wrong option is not tried again' refuses_wrong_option
    check 'the status says what is wrong' status_says 'unknown argument "--wrong"; see gimbald --help'
    check 'the log says it in one line' within 5 logs_one_line
    check 'and the catalog knows the line' within 5 catalog_knows_it
    check 'its socket still listens' [ "$(state ActiveState gimbald.socket)" = active ]
    check 'a client that connects is told' exchange_is '"code":"unavailable","message":"gimbald cannot start: unknown'
    check 'the next one too' exchange_is '"code":"unavailable","message":"gimbald cannot start: unknown'
    without_drop_in
    check 'with the right options it starts for the next client' within 5 answers
}

# Settings in the file: a reload applies them; invalid ones leave the daemon as it is.
settings() {
    mkdir -p /etc/gimbal
    echo 'allow-group = backup' >/etc/gimbal/gimbald.conf
    check 'nothing is wrong with the settings' gimbald --check-config
    check 'it reloads' reloads
    check 'the settings are in force' answers_to gimbal $socket "$zoom_in" '"denied".*--allow-group'
    echo 'log-level = debug' >>/etc/gimbal/gimbald.conf
    check 'it reloads again' reloads
    check 'and refuses again' answers_to gimbal $socket "$zoom_in" '"denied"'
    check 'the journal has the user of the refused line' within 5 \
        entry e85d2738ef3f4a4cadb466a84b5271e3 "\"CLIENT_UID\":\"$(id -u nobody)\""
    check 'and its catalog says what that is' bash -c "journalctl --update-catalog &&
        journalctl --catalog MESSAGE_ID=e85d2738ef3f4a4cadb466a84b5271e3 | grep 'user $(id -u nobody), sent a line'"
    check 'a camera is made' gimbal move --socket $socket --camera seen --zoom 4
    check 'and found by its name' within 5 entry 6941d61fa16d433dbfc4bd7dde4c0f05 '"CAMERA":"seen"'
    check 'it is removed' gimbal remove --socket $socket seen
    echo 'cameras = many' >>/etc/gimbal/gimbald.conf
    check 'wrong settings are found' bash -c '! gimbald --check-config'
    check 'a reload with them returns' systemctl reload gimbald.service
    check 'the log says what is wrong' within 5 logs_error '/etc/gimbal/gimbald.conf:3: cameras "many" must be 1 to 65536$'
    check 'the daemon has the settings from before' answers_to gimbal $socket "$zoom_in" '"denied".*--allow-group'
    rm /etc/gimbal/gimbald.conf
    check 'it reloads without the file' reloads
    check 'the settings are gone' answers_to gimbal $socket "$zoom_in" '"ok"'
}

# entry MESSAGE-ID MEMBER: whether the journal has such an entry of the service with this member.
entry() { journalctl --quiet --output json "MESSAGE_ID=$1" _SYSTEMD_UNIT=gimbald.service | tee /dev/stderr | grep -qF "$2"; }

logs_error() {
    journalctl --quiet --priority err --output cat "_PID=$(state MainPID)" | tee /dev/stderr | grep -q "$1"
}

restarts_often() {
    local round
    for round in {1..12}; do restarts || { echo "round $round" && return 1; }; done
    [ "$(state ActiveState gimbald.socket)" = active ]
}

exchange_is() {
    local answer
    answer=$(exchange '{"type":"ping"}') && grep -q "$1" <<<"$answer" || { echo "$answer" && false; }
}

# The `subscribed` line is the same before and after: epoch, seq and position.
cameras_outlive_it() {
    local before after
    before=$(exchange '{"type":"subscribe"}')
    "${manager[@]}" stop gimbald.service && after=$(exchange '{"type":"subscribe"}') || return
    grep -q '"seq":[1-9]' <<<"$before" && [ "$after" = "$before" ] || { printf '%s\n' "$before" "$after" && false; }
}

# with SECTION-LINES…: adds a drop-in to the service.
drop_ins=/run/systemd/system
with() {
    mkdir -p "$drop_ins/gimbald.service.d"
    printf '%s\n' '[Service]' "$@" >"$drop_ins/gimbald.service.d/test.conf"
    chmod -R a+rX "$drop_ins"
    "${manager[@]}" daemon-reload
}

without_drop_in() {
    rm -r "$drop_ins/gimbald.service.d"
    "${manager[@]}" daemon-reload
}

refuses_wrong_option() {
    with ExecStart= 'ExecStart=/usr/bin/gimbald --wrong'
    ! "${manager[@]}" restart gimbald.service 2>/dev/null && is ExecMainStatus 64 && is NRestarts 0
}

logs_one_line() {
    local lines
    lines=$(journalctl --quiet --priority err --output cat "_PID=$(state ExecMainPID)")
    [ "$lines" = 'unknown argument "--wrong"; see gimbald --help' ] || { echo "$lines" && false; }
}

catalog_knows_it() {
    journalctl --quiet --catalog "MESSAGE_ID=1ef54261525145e18988ef31b3e7a88f" "_PID=$(state ExecMainPID)" |
        grep 'Gimbal cannot start'
}

asks_the_kernel() {
    {
        # Its status is 1 where the clock is not synchronized.
        printf '[Service]\nType=oneshot\nPrivateNetwork=yes\nStandardOutput=file:/run/clock\nExecStart=-%s --status\n' \
            "$(command -v gimbal-mqtt)"
        systemctl cat gimbal-mqtt.service | grep '^SystemCall'
    } >/run/systemd/system/clock.service
    systemctl daemon-reload
    systemctl start clock.service
    grep 'according to the kernel' /run/clock
}

watchdog() {
    with WatchdogSec=3
    systemctl restart gimbald.service
    local before cameras
    before=$(state MainPID)
    cameras=$(state StatusText | grep -o '[0-9]* cameras')
    exchange '{"type":"move","id":1,"camera":"one-more","update":{"kind":"zoom-in"}}' >/dev/null
    sleep 7.5
    check 'its signs of life come in time' is MainPID "$before"
    check 'its status keeps up' status_says "$((${cameras% *} + 1)) cameras"
    systemctl kill --kill-whom main --signal STOP gimbald.service
    check 'when it hangs it is started anew' within 20 replaced "$before"
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

# The watch socket belongs to the other one; clients outside the group may then watch, and the socket's group may feed.
watching() {
    systemctl unmask --runtime --quiet gimbald.socket
    with 'ExecStart=' 'ExecStart=/usr/bin/gimbald --allow-group backup'
    check 'the daemon starts' systemctl start gimbald.service
    check 'the watch socket is enabled beside it, and nobody is dropped' \
        drops_nobody 1 systemctl --quiet enable --now gimbald-watch.socket
    check 'it is for everybody' [ "$(stat -c '%U:%G:%a' $watch_socket)" = gimbal:gimbal:666 ]
    check 'who comes by it may watch' answers_to nogroup $watch_socket '{"type":"subscribe"}' '"subscribed"'
    check 'and nothing else' answers_to nogroup $watch_socket "$zoom_in" '"denied".*watch socket'
    check 'a member of the allowed group may feed' answers_to gimbal,backup $socket "$zoom_in" '"ok"'
    check 'who is only let in may not' answers_to gimbal $socket "$zoom_in" '"denied".*--allow-group'
    check 'it restarts' restarts
    check 'the watch socket is the same' answers_to nogroup $watch_socket "$zoom_in" '"denied".*watch socket'
    check 'it reloads' reloads
    check 'it is still the same' answers_to nogroup $watch_socket "$zoom_in" '"denied".*watch socket'
    check 'and once more' reloads
    check 'both sockets are there' answers_to gimbal,backup $socket "$zoom_in" '"ok"'
    check 'the watch socket stops and starts again' systemctl restart gimbald-watch.socket
    check 'and is still for watching' answers_to nogroup $watch_socket "$zoom_in" '"denied".*watch socket'
    check 'its daemon ends' systemctl stop gimbald.socket gimbald-watch.socket gimbald.service
    check 'the watch socket is taken away' [ ! -e $watch_socket ]
    check 'it starts nothing by itself' is ActiveState inactive
    without_drop_in
}

# answers_to GROUPS SOCKET LINE PATTERN: whether a client with these groups gets a matching answer.
answers_to() {
    local answer
    answer=$(as_other "$1" socat -t 5 - "UNIX-CONNECT:$2" <<<"$3") && grep -q "$4" <<<"$answer" ||
        { echo "$answer" && false; }
}

# The bridge beside it, with a broker that comes and goes and requires a password.
bridge() {
    local manager=(systemctl)
    mkdir -p /etc/gimbal /run/systemd/system/gimbal-mqtt.service.d
    printf '%s\n' 'user = kiosk' 'password = of the kiosk' >/etc/gimbal/mqtt.conf
    chmod 600 /etc/gimbal/mqtt.conf
    printf '%s\n' '[Service]' 'Environment="GIMBAL_MQTT_OPTIONS=--broker mqtt://127.0.0.1:1883 --node kiosk"' \
        'LoadCredential=mqtt:/etc/gimbal/mqtt.conf' >/run/systemd/system/gimbal-mqtt.service.d/test.conf
    mosquitto_passwd -b -c /tmp/passwords kiosk 'of the kiosk'
    printf '%s\n' 'listener 1883 127.0.0.1' 'allow_anonymous false' 'password_file /tmp/passwords' 'user root' >/tmp/broker.conf
    systemctl daemon-reload
    systemctl start gimbald.socket
    check 'the daemon answers' answers
    check 'the bridge starts where there is no broker' systemctl start gimbal-mqtt.service
    local first
    first=$(state MainPID gimbal-mqtt.service)
    begin_broker
    check 'it is there as soon as the broker is, by its credential' within 15 node_says '"state":"ready"'
    check 'it is the same process' [ "$(state MainPID gimbal-mqtt.service)" = "$first" ]
    check 'it runs as a user of its own' [ "$(ps -o user= -p "$first")" != root ]
    check 'it has no capabilities' grep -Pq '^CapBnd:\t0+$' "/proc/$first/status"
    check 'its system calls are filtered' grep -Pq '^Seccomp:\t2$' "/proc/$first/status"
    check 'it tells how good the clock is' within 5 node_says '"clock":{"synchronized":'
    check 'it may ask the kernel where there is no chronyd' asks_the_kernel
    check 'its own secret is for it alone' bash -c "$(declare -f as_other)
        ! as_other nogroup cat /run/credentials/gimbal-mqtt.service/mqtt 2>/dev/null"
    check 'a camera of the daemon is at the broker' within 5 kept_is kiosk/main/camera '"moving":false'
    end_broker
    begin_broker
    check 'when the broker comes back, so does the bridge' within 15 node_says '"state":"ready"'
    check 'without having been restarted' [ "$(state NRestarts gimbal-mqtt.service):$(state MainPID gimbal-mqtt.service)" = "0:$first" ]
    systemctl kill --kill-whom main --signal KILL gimbal-mqtt.service
    check 'after a crash it is started anew' within 15 bash -c \
        "[ \$(systemctl show --value --property NRestarts gimbal-mqtt.service) = 1 ]"
    check 'and is the node again' within 15 node_says '"state":"ready"'
    check 'it stops in order' systemctl stop gimbal-mqtt.service
    check 'it ended well' [ "$(state Result gimbal-mqtt.service)" = success ]
    check 'it has said goodbye' node_says '"state":"disconnected".*the bridge has ended'
    end_broker
    systemctl stop gimbald.socket gimbald.service
}

begin_broker() {
    mosquitto -c /tmp/broker.conf >/dev/null 2>&1 &
    broker=$!
}

# The next broker uses the same port, which is free once this one has gone.
end_broker() {
    kill "$broker"
    wait "$broker" || true
}

# kept_is TOPIC PATTERN: whether the broker's retained message below gimbal/ matches.
kept_is() {
    mosquitto_sub -h 127.0.0.1 -u kiosk -P 'of the kiosk' -t "gimbal/$1" -C 1 -W 2 2>&1 | tee /dev/stderr | grep -q "$2"
}

# shellcheck disable=SC2016 # It is the topic's name.
node_says() { kept_is 'kiosk/$state' "$1"; }

# A user's daemon, under the manager that the login manager starts for a user.
user_units() {
    local manager=(as_user systemctl --user) socket=/run/user/$user/gimbal.sock
    local drop_ins=/home/tester/.config/systemd/user
    check "a user's socket is enabled" "${manager[@]}" --quiet enable --now gimbald.socket
    check "a user's socket is that user's alone" [ "$(stat -c '%u:%a' "$socket")" = "$user:600" ]
    check "a user's daemon waits for a client" is ActiveState inactive
    check "a user's client finds it" as_user gimbal replay --speed max "$trace"
    check "a user's daemon is that user's" [ "$(stat -c %u "/proc/$(state MainPID)")" = "$user" ]
    check "a user's daemon has its system calls filtered" process_has '^Seccomp:\t2$'
    ending_and_failing
}

# `make uninstall` and `make purge` on a machine where everything is enabled and runs.
removing() {
    systemctl --quiet enable --now gimbald.service gimbald.socket gimbald-watch.socket
    as_user systemctl --user --quiet enable --now gimbald.service gimbald.socket
    mkdir -p /etc/systemd/system/gimbald.service.d
    # The page's socket listens, whether its server is installed or not.
    cp /test/project/systemd/gimbal-web.* /usr/lib/systemd/system
    systemctl daemon-reload
    systemctl --quiet enable --now gimbal-web.socket
    [ ! -e /usr/bin/gimbal-mqtt ] || systemctl --quiet enable --now gimbal-mqtt.service
    mkdir -p /etc/systemd/system/gimbal-web.service.d /var/lib/private/gimbal-web
    check 'it runs' is ActiveState active
    make --no-print-directory --silent -C /test/project uninstall >/tmp/uninstalled
    check 'uninstalling tells what it leaves' grep -q 'left in place.*gimbald.service.d /var/lib/gimbal.*user gimbal' \
        /tmp/uninstalled
    check 'no process is left' has_no_process
    check 'nor one of the bridge' bash -c '! pgrep --exact --list-full gimbal-mqtt'
    check 'no socket is left' [ ! -e /run/gimbal ]
    check 'nor one of a user' [ ! -e "/run/user/$user/gimbal.sock" ]
    check 'no link dangles' leaves_no_link
    check 'systemd knows nothing of it' knows_no_unit
    check 'the cameras are left' [ -s /var/lib/gimbal/cameras.ndjson ]
    check "the page's tokens are left, and told" grep -q '/var/lib/private/gimbal-web (the page' /tmp/uninstalled
    make --no-print-directory --silent -C /test/project purge >/tmp/purged
    check 'purging tells what users keep' grep -q 'users' /tmp/purged
    check 'the cameras are gone' [ ! -e /var/lib/gimbal ]
    check "the page's tokens are gone" [ ! -e /var/lib/private/gimbal-web ]
    check 'the settings are gone' [ ! -e /etc/systemd/system/gimbald.service.d ]
    check "the page's are gone, too" [ ! -e /etc/systemd/system/gimbal-web.service.d ]
    check 'the user is gone' bash -c '! getent passwd gimbal && ! getent group gimbal'
}

leaves_no_link() {
    local links
    links=$(find /etc/systemd /home/tester/.config -name 'gimbal*' -type l)
    [ -z "$links" ] || { echo "$links" && false; }
}

knows_no_unit() {
    local units
    units=$({ systemctl list-units --all 'gimbal*'; as_user systemctl --user list-units --all 'gimbal*'; } | grep gimbal) ||
        return 0
    echo "$units" && false
}

inside() {
    cp -a /test/tree/. /
    systemctl daemon-reload
    for program in gimbald gimbal; do
        check "$program needs no library of Swift's" has_no_swift_library /usr/bin/$program
    done
    socket_activation
    service
    settings
    ending_and_failing
    watchdog
    without_socket_unit
    watching
    [ ! -e /usr/bin/gimbal-mqtt ] || ! command -v mosquitto >/dev/null || bridge
    begin_user
    user_units
    removing
    leave_counts
}

# MARK: Outside

analyse() {
    local root=$folder/prefix units
    units=$root/lib/systemd
    make --no-print-directory --silent install DESTDIR= PREFIX="$root"
    check 'the units start what is installed' \
        grep -q "^ExecStart=$root/bin/gimbald" "$units/system/gimbald.service" "$units/user/gimbald.service"
    check 'systemd-analyze verify: system units' silent env MANPATH="$root/share/man" \
        systemd-analyze verify "$units/system/gimbald.service" "$units/system/gimbald.socket" \
        "$units/system/gimbald-watch.socket"
    check 'systemd-analyze verify: user units' silent env HOME="$folder" XDG_RUNTIME_DIR="$folder" \
        MANPATH="$root/share/man" \
        systemd-analyze --user verify "$units/user/gimbald.service" "$units/user/gimbald.socket"
    check 'systemd-analyze security: 1.0 or better' \
        systemd-analyze security --no-pager --offline=true --threshold=10 "$units/system/gimbald.service"
    if [ -n "$with_bridge" ]; then
        make --no-print-directory --silent install-mqtt DESTDIR= PREFIX="$root"
        check "systemd-analyze verify: the bridge's unit" silent env MANPATH="$root/share/man" \
            systemd-analyze verify "$units/system/gimbal-mqtt.service" "$units/system/gimbald.socket"
        check "systemd-analyze security: the bridge's 1.6 or better" systemd-analyze security --no-pager --offline=true \
            --threshold=16 "$units/system/gimbal-mqtt.service"
        check "the bridge's man page and completions are installed" has_files "$root/share" man/man8/gimbal-mqtt.8 \
            bash-completion/completions/gimbal-mqtt zsh/site-functions/_gimbal-mqtt fish/vendor_completions.d/gimbal-mqtt.fish
    fi
    check 'man pages and completions are installed' has_manual "$root/share"
    check 'uninstalling leaves no file' uninstall "$root"
}

has_manual() {
    has_files "$1" man/man1/gimbal.1 man/man1/gimbal-watch.1 man/man8/gimbald.8 \
        {bash-completion/completions/,zsh/site-functions/_}{gimbal,gimbald} fish/vendor_completions.d/{gimbal,gimbald}.fish
}

# has_files FOLDER FILE…: each exists and is not empty.
has_files() {
    local root=$1 file
    shift
    for file; do [ -s "$root/$file" ] || { echo "there is no $root/$file" && return 1; }; done
}

uninstall() {
    local left
    make --no-print-directory --silent uninstall DESTDIR= PREFIX="$1" && left=$(find "$1" ! -type d) || return
    [ -z "$left" ] || { echo "$left" && false; }
}

main() {
    command -v systemd-analyze >/dev/null || { echo 'systemd: skipped: there is no systemd here' && exit 0; }
    folder=$(mktemp -d)
    trap 'rm -rf --one-file-system "$folder"' EXIT
    with_bridge=
    if [ -e "${SCRATCH:-.build}/share-of/gimbal-mqtt" ]; then
        with_bridge=yes
    else
        echo 'systemd: skipped the bridge: it is not built (make mqtt)'
    fi
    analyse
    make --no-print-directory --silent install DESTDIR="$folder/test/tree" PREFIX=/usr
    [ -z "$with_bridge" ] || make --no-print-directory --silent install-mqtt DESTDIR="$folder/test/tree" PREFIX=/usr
    mkdir "$folder/test/project"
    cp -R Makefile systemd "$folder/test/project"
    run_inside Tests/System/systemd.sh 240 'running the units'
    conclude
}

if [ "${1:-}" = inside ]; then inside; else main; fi
