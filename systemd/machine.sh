#!/bin/sh
# What installing and removing do to this machine: its units, links to them, and what the service leaves behind. `make`
# calls it unless it stages: machine.sh installed|uninstalling|uninstalled|purge UNITS
# UNITS is the folder of the units; if systemd does not look there, nothing is done.
set -eu

action=$1
units=$2

services='gimbald.service gimbald.socket gimbald-watch.socket gimbald-watch-restart.service
    gimbal-mqtt.service gimbal-web.service gimbal-web.socket'
user_services='gimbald.service gimbald.socket'
state=/var/lib/gimbal
# The second is a link to the first, which systemd makes for a service without a user of its own.
tokens='/var/lib/private/gimbal-web /var/lib/gimbal-web'

has_systemd() { command -v systemctl >/dev/null && systemd-analyze unit-paths 2>/dev/null | grep -qx "$units/system"; }
is_running() { [ -d /run/systemd/system ]; }
is_root() { [ "$(id -u)" = 0 ]; }

# known UNITS FOLDER: those that exist.
known() { for unit in $1; do [ ! -e "$2/$unit" ] || echo "$unit"; done; }

# for_each_user COMMAND…: calls the service manager of every user who has one.
for_each_user() {
    for manager in /run/user/*/systemd/private; do
        [ -S "$manager" ] || continue
        id=$(stat -c %u "$manager")
        setpriv --reuid "$id" --regid "$(stat -c %g "$manager")" --clear-groups \
            env XDG_RUNTIME_DIR="/run/user/$id" systemctl --user --quiet "$@" 2>/dev/null || true
    done
}

# Removes links in users' homes, whose service managers may not be running. A name there may contain anything.
remove_users_links() {
    getent passwd | cut -d: -f6 | sort -u | while read -r home; do
        [ ! -d "$home/.config/systemd/user" ] ||
            find "$home/.config/systemd/user" -maxdepth 2 -name 'gimbald.*' -lname '*/systemd/user/gimbald.*' -delete \
                2>/dev/null || true
    done
}

# The administrator's settings, some made by `systemctl edit`.
settings() {
    [ ! -e /etc/gimbal/gimbald.conf ] || echo /etc/gimbal/gimbald.conf
    find /etc/systemd/system /etc/systemd/user -maxdepth 1 \
        \( -name 'gimbald.*.d' -o -name 'gimbald-watch.*.d' -o -name 'gimbal-mqtt.*.d' -o -name 'gimbal-web.*.d' \) \
        2>/dev/null
}

installed() {
    ! is_running || { systemctl daemon-reload && for_each_user daemon-reload; }
    journalctl --update-catalog 2>/dev/null || true
    if is_running && systemctl --quiet is-active gimbald.service; then
        echo 'gimbald runs: `systemctl restart gimbald` starts what is installed now, and drops no client'
    elif ! systemctl --quiet is-enabled gimbald.socket 2>/dev/null; then
        echo 'to start it: systemd-sysusers && systemctl enable --now gimbald.socket'
    fi
}

uninstalling() {
    names=$(known "$services" "$units/system")
    if [ -n "$names" ]; then
        # The sockets first: a client that connects in between must not start the daemon again.
        ! is_running || systemctl --quiet stop $(echo "$names" | grep socket) $(echo "$names" | grep service)
        systemctl --quiet disable $names
    fi
    names=$(known "$user_services" "$units/user")
    [ -n "$names" ] || return 0
    for_each_user disable --now $names
    systemctl --global --quiet disable $names
    remove_users_links
}

# forget: removes what systemd and the runtime folder still know.
forget() {
    rm -rf /run/gimbal
    journalctl --update-catalog 2>/dev/null || true
    is_running || return 0
    systemctl daemon-reload
    for unit in $services; do systemctl --quiet reset-failed "$unit" 2>/dev/null || true; done
    for_each_user daemon-reload
}

uninstalled() {
    forget
    left=$(settings)
    [ ! -e $state ] || left="$left $state (the cameras)"
    [ ! -e "${tokens% *}" ] || left="$left ${tokens% *} (the page's tokens)"
    ! getent passwd gimbal >/dev/null || left="$left and the user gimbal"
    [ -z "$left" ] || echo "left in place, and removed by \`make purge\`:" $left
}

purge() {
    settings | while read -r path; do rm -rf "$path"; done
    rm -rf $state $tokens
    forget
    ! getent passwd gimbal >/dev/null || userdel gimbal
    ! getent group gimbal >/dev/null || groupdel gimbal
    echo "left in place: what users' own daemons keep in ~/.local/state/gimbal, or in ~/.config/gimbal"
}

has_systemd && is_root || exit 0
"$action"
