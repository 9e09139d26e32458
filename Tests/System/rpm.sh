#!/usr/bin/env bash
# The RPM spec in packaging/, with Debian's rpm: builds packages from the source archive, checks them with rpmlint, and
# installs, upgrades and removes them below a separate root. No RPM distribution is booted here, so systemd's macros in
# the packages' scripts are not tested. Prints failures, and a last line.
#
#   rpm.sh          as part of `make test`: with the programs that were built before
#   rpm.sh whole    builds everything from the archive of the last commit, including gimbal-web
set -euo pipefail
# shellcheck disable=SC2034 # The shared functions have it.
name=rpm
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=support/container.sh
source Tests/System/support/container.sh
for program in rpmbuild rpmlint; do
    command -v $program >/dev/null || { echo "rpm: skipped: there is no $program" && exit; }
done
[ -e .git ] || { echo 'rpm: skipped: this is no git repository' && exit; }

version=$(sed -n 's/^Version: *//p' packaging/gimbal.spec)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
archive=$folder/source/gimbal-$version.tar.xz
# Debian's rpm has its database in the user's home.
no_database=(--define "_dbpath $folder/database")

# build OPTION…: rpm does not know dpkg's packages, so it must not check dependencies.
build() {
    env -u SCRATCH -u MAKEFLAGS rpmbuild -tb --nodeps "${no_database[@]}" --define "_topdir $folder/rpm" --with mqtt "$@" \
        "$archive" >"$folder/log" 2>&1 || { tail -n 30 "$folder/log" && false; }
}

# pack: packs the current files, whatever others do with them meanwhile.
pack() {
    mkdir "$folder/source"
    git ls-files -z --cached --others --exclude-standard | XZ_OPT=-0 tar -cJf "$archive" --null --ignore-failed-read -T - \
        --transform "s|^|gimbal-$version/|" || [ $? = 1 ]
}

parts=(gimbal gimbal-mqtt)
if [ "${1:-}" = whole ]; then
    parts+=(gimbal-web)
    check 'the archive is made' debian/release.py --source "$folder/source"
    check 'everything is built of it' build --with web
else
    check 'the archive is made' pack
    check 'packages are built of it' build --define "built $(realpath "${SCRATCH:-.build}")" --define '_binary_payload w1.gzdio'
fi
for part in "${parts[@]}"; do
    files+=("$(echo "$folder"/rpm/RPMS/*/"$part-$version"-*.rpm)")
done
check 'there are all, and no others' [ "$(echo "$folder"/rpm/RPMS/*/*.rpm)" = "${files[*]}" ]
[ $failed = 0 ] || conclude

# MARK: Contents

# Rules unknown to Debian's rpmlint, and findings due to Swift's linker or in examples.
known='no-signature|no-packager-tag|no-group-tag|no-changelogname-tag|hardcoded-library-path|binary-or-shlib-defines-rpath'
known+='|env-script-interpreter'
lint() { ! HOME=$folder rpmlint packaging/gimbal.spec "${files[@]}" | grep ': E: ' | grep -vE ": E: ($known)\b"; }
rpm -qp "${no_database[@]}" --requires "${files[0]}" >"$folder/needs"
told() { rpmspec -P "${no_database[@]}" --define "$1() $1 %*" packaging/gimbal.spec | grep -qx "$1 $2"; }
check 'rpmlint finds no other errors' lint
check 'it needs libevent' grep -q '^libevent_core-2' "$folder/needs"
check 'and libexpat' grep -q '^libexpat' "$folder/needs"
check 'and not what examples are written in' bash -c "! grep -E 'python|/env' '$folder/needs'"
check 'systemd learns of the units' told systemd_post 'gimbald.socket gimbald-watch.socket gimbald.service'
check 'and restarts the daemon alone' told systemd_postun_with_restart gimbald.service

# MARK: Installation

root=$folder/root
settings=$root/etc/gimbal/gimbald.conf
rpm_there() { rpm --root "$root" --dbpath /var/lib/rpm --nodeps --noscripts "$@" 2>&1; }
there() { "$root/usr/bin/$1" --version | grep -qx "$1 $version"; }
runs() { test -x "$root$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$root/usr/lib/systemd/$1")"; }
only_left() { diff <(find "$root" ! -type d ! -path '*/var/lib/rpm/*' -printf '%P\n') <(echo "$1"); }
if [ "$(id -u)" = 0 ]; then
    check 'they are installed' rpm_there -i "${files[@]}"
    for part in gimbal gimbald "${parts[@]:1}"; do check "$part says its version" there "$part"; done
    for unit in {system,user}/gimbald system/gimbal-mqtt; do check "$unit runs a program of it" runs "$unit.service"; done
    check 'its user can be made' systemd-sysusers --root "$root" gimbal.conf
    check 'and is' grep -q '^gimbal:' "$root/etc/passwd"
    check 'its socket can be enabled' systemctl --root "$root" --quiet enable gimbald.socket
    systemctl --root "$root" --quiet disable gimbald.socket
    echo 'cameras = 7' >>"$settings"
    check 'they are installed again' rpm_there -U --replacepkgs "${files[@]}"
    check 'changed settings stay' grep -qx 'cameras = 7' "$settings"
    rm "$root"/etc/{passwd,group,shadow,gshadow}* "$root/etc/.pwd.lock"
    check 'they are removed' rpm_there -e "${parts[@]}"
    check 'and leave those settings alone' only_left etc/gimbal/gimbald.conf.rpmsave
else
    echo 'rpm: skipped: installing packages: that takes root'
fi
conclude
