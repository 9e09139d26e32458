#!/usr/bin/env bash
# The Debian package: built twice with equal results, checked by lintian, then installed, upgraded beside running
# clients, removed and purged under a systemd booted for it, in a container over a throw-away overlay of this machine.
# It contains the programs that were built before; the bridge's package is included. Prints failures, and a last line.
set -euo pipefail
# shellcheck disable=SC2034 # The shared functions have it.
name=debian
# shellcheck source=support/container.sh
source "$(dirname "${BASH_SOURCE[0]}")/support/container.sh"
[ "${1:-}" = inside ] || cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# MARK: Inside the container

apt_get() { DEBIAN_FRONTEND=noninteractive apt-get -qq -y --allow-downgrades "$@"; }
version_is() { [ "$(dpkg-query -W -f '${Version}' gimbal)" = "$1" ]; }

# Prints every unit's state, such as "gimbald.socket enabled".
unit_states() {
    local unit
    for unit in gimbald.socket gimbald-watch.socket gimbald.service; do
        echo "$unit $(systemctl is-enabled $unit) $(systemctl is-active $unit)"
    done
    [ -z "${user:-}" ] || echo "user's $(as_user systemctl --user is-enabled gimbald.socket)"
}

states_are() { diff <(unit_states) <(printf '%s\n' "$@"); }

installing() {
    check 'apt installs it' apt_get install /test/first.deb
    check 'the package has its version' version_is "$first"
    check 'its user is there' getent passwd gimbal
    check 'nothing is wrong with its settings' gimbald --check-config
    check 'the socket is enabled and listens, and nothing else' states_are \
        'gimbald.socket enabled active' 'gimbald-watch.socket disabled inactive' 'gimbald.service disabled inactive'
    check 'the first client starts the daemon' answers
    local test
    for test in $(sed -n 's/^Tests: //p' /test/tests/control); do
        check "autopkgtest $test" "/test/tests/$test"
    done
}

# upgrade PACKAGE: the system's daemon becomes another process, and the sockets stay the same.
upgrade() {
    local before sockets
    before=$(state MainPID)
    sockets=$(stat -c %i $socket $watch_socket)
    apt_get install "$1" && replaced "$before" && [ "$(stat -c %i $socket $watch_socket)" = "$sockets" ]
}

upgrading() {
    local states process
    systemctl --quiet enable --now gimbald-watch.socket
    begin_user
    as_user systemctl --user --quiet enable --now gimbald.socket
    as_user gimbal move --zoom 3 >/dev/null
    process=$(as_user systemctl --user show --value --property MainPID gimbald.service)
    mkdir -p /etc/systemd/system/gimbald.service.d
    printf '%s\n' '[Service]' 'ExecStart=' 'ExecStart=/usr/bin/gimbald --max-cameras 300' \
        >/etc/systemd/system/gimbald.service.d/override.conf
    systemctl daemon-reload
    check 'the daemon runs' answers
    states=$(unit_states)
    check 'an upgrade drops no client and no event' drops_nobody 1 upgrade /test/next.deb
    check 'it is the next version' version_is "$next"
    check 'no unit has changed its state' states_are "$states"
    check "the administrator's options are in force" runs_with --max-cameras 300
    check "the user's daemon is another process" users_daemon_replaced "$process"
    check 'and so does a downgrade' drops_nobody 1 upgrade /test/first.deb
    systemctl --quiet disable --now gimbald.socket gimbald-watch.socket gimbald.service
    states=$(unit_states)
    check 'what is disabled and stopped' apt_get install /test/next.deb
    check 'stays so' states_are "$states"
    systemctl --quiet enable --now gimbald.socket gimbald-watch.socket gimbald.service
}

runs_with() { tr '\0' ' ' <"/proc/$(state MainPID)/cmdline" | grep -q -- "$*"; }

users_daemon_replaced() {
    local process
    process=$(as_user systemctl --user show --value --property MainPID gimbald.service)
    [ "$process" != 0 ] && [ "$process" != "$1" ]
}

# The bridge waits for its configuration; its default is a broker on this machine.
bridge() {
    check 'apt installs the bridge' apt_get install /test/mqtt.deb
    check 'it is neither enabled nor started' bridge_is disabled inactive
    check 'it starts' systemctl start gimbal-mqtt.service
    check 'it waits for a broker' within 10 bridge_says 'no broker: mqtt://localhost:1883'
    check 'it goes on waiting' bridge_is disabled active
    check 'apt purges it' apt_get purge gimbal-mqtt
    check 'it has been stopped' bridge_is not-found inactive
    check 'no file of it is left' leaves_nothing_of gimbal-mqtt
}

# bridge_is ENABLED ACTIVE
bridge_is() {
    local now
    now="$(systemctl is-enabled gimbal-mqtt.service 2>/dev/null || true) $(systemctl is-active gimbal-mqtt.service || true)"
    # systemd 252 prints nothing for an unknown unit.
    [ "$now" = "$1 $2" ] || [ "$1$now" = "not-found $2" ] || { echo "$now" && false; }
}

bridge_says() { journalctl --quiet --output cat --unit gimbal-mqtt.service | grep -q "$1"; }

removing() {
    check 'the daemon answers' answers
    check 'apt removes it' apt_get remove gimbal
    check 'no process is left' has_no_process
    check 'no socket is left' has_no_socket
    check 'the cameras are left' [ -s /var/lib/gimbal/cameras.ndjson ]
    check 'apt purges it' apt_get purge gimbal
    check 'the cameras are gone' [ ! -e /var/lib/gimbal ]
    check 'no link is left' leaves_nothing
}

has_no_socket() { ! ls /run/gimbal/*.sock "/run/user/$user/gimbal.sock" 2>/dev/null; }

leaves_nothing() { leaves_nothing_of gimbal; }

# Except for files that an administrator made.
leaves_nothing_of() {
    local left
    left=$(find /etc /lib/systemd/system /usr/lib /usr/bin /usr/share /var/lib -name "*$1*" ! -name gimbald.service.d)
    [ -z "$left" ] || { echo "$left" && false; }
}

inside() {
    # Container images use it to forbid packages to start services.
    rm -f /usr/sbin/policy-rc.d
    first=$(dpkg-deb --field /test/first.deb Version)
    next=$(dpkg-deb --field /test/next.deb Version)
    installing
    upgrading
    [ ! -e /test/mqtt.deb ] || bridge
    removing
    leave_counts
}

# MARK: Outside

# Compressed as fast as possible: the size does not matter here.
make_package() { DEB_COMPRESSION=-z1 make --no-print-directory --silent package WITH="$with" "$@"; }

# Another folder, time zone, language and umask, and without lintian.
make_again() { (umask 027 && TZ=Pacific/Kiritimati LC_ALL=C.UTF-8 make_package LINTIAN=true); }

same() {
    cmp "$folder/test/first.deb" "$package" && { [ -z "$with" ] || cmp "$folder/test/mqtt.deb" "$packages"/gimbal-mqtt_*.deb; }
}

# The same programs as a later version.
make_next() {
    dpkg-deb --raw-extract "$package" "$folder/next"
    sed -i "s/^Version: .*/&+next/" "$folder/next/DEBIAN/control"
    dpkg-deb --root-owner-group -Znone --build "$folder/next" "$folder/test/next.deb"
}

main() {
    local missing=()
    for tool in dpkg-buildpackage dh lintian; do command -v $tool >/dev/null || missing+=("$tool"); done
    [ ${#missing[@]} = 0 ] || { echo "debian: skipped: there is no ${missing[*]} here" && exit 0; }
    folder=$(mktemp -d)
    trap 'rm -rf --one-file-system "$folder"' EXIT
    mkdir "$folder/test"
    packages=${SCRATCH:-.build}/deb
    with=mqtt
    if [ ! -e "${SCRATCH:-.build}/release/gimbal-mqtt" ]; then
        with=
        echo "debian: skipped the bridge's package: it is not built (make mqtt)"
    fi
    check 'the version of the package is that of the programs' [ "$(dpkg-parsechangelog --show-field Version)" = \
        "$(sed -n 's/^package let gimbalVersion = "\(.*\)"$/\1/p' Sources/Core/GimbalProtocol/Version.swift)" ]
    check 'the package is made, and lintian finds nothing' make_package
    package=$(echo "$packages"/gimbal_*.deb)
    if [ -e "$package" ]; then
        cp "$package" "$folder/test/first.deb"
        [ -z "$with" ] || cp "$packages"/gimbal-mqtt_*.deb "$folder/test/mqtt.deb"
        check 'it is made again' make_again
        check 'it is the same, byte for byte' same
        check 'a later version of it is made' make_next
        cp -R debian/tests "$folder/test"
        run_inside Tests/System/debian.sh 240 'installing the package'
    fi
    conclude
}

if [ "${1:-}" = inside ]; then inside; else main; fi
