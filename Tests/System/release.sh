#!/usr/bin/env bash
# A release: one version everywhere, commits that cannot be released are refused, the source archive is the same from
# any folder, and the bill of materials names what is linked. Prints failures, and a last line.
#
#   release.sh          as part of `make test`: with the programs that were built before
#   release.sh twice    builds a whole release in two folders and compares all bytes
set -euo pipefail
# shellcheck disable=SC2034 # The shared functions have it.
name=release
# shellcheck source=support/container.sh
source "$(dirname "${BASH_SOURCE[0]}")/support/container.sh"
# shellcheck source=support/wheels.sh
source "$(dirname "${BASH_SOURCE[0]}")/support/wheels.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[ -e .git ] || { echo 'release: skipped: this is no git repository' && exit 0; }

version=$(sed -n 's/^package let gimbalVersion = "\(.*\)"$/\1/p' Sources/Core/GimbalProtocol/Version.swift)
date=$(date -u -d "$(dpkg-parsechangelog --show-field Date)" +%F)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# clone NAME: commits the current files in a new folder.
clone() {
    git clone --quiet --no-tags . "$folder/$1"
    git ls-files -z --cached --others --exclude-standard | tar -c --null --ignore-failed-read -T - 2>/dev/null |
        tar -x -C "$folder/$1"
    git -C "$folder/$1" add --all
    commit "$1" 'as it is'
}

commit() { git -C "$folder/$1" -c user.name=x -c user.email=x@localhost commit --quiet --all --allow-empty -m "$2"; }

# MARK: One version

# versions FILE PATTERN: prints the versions that follow a pattern in a file.
versions() { grep -oE "$2[0-9]+\.[0-9]+\.[0-9]+" "$1" | sed 's/.*[^0-9.]//' | sort -u; }

one_version() {
    [ "$(dpkg-parsechangelog --show-field Version)" = "$version" ] || echo debian/changelog
    [ "$(grep -m 1 '^## \[[0-9]' CHANGELOG.md | grep -o '\[.*\]')" = "[$version]" ] || echo CHANGELOG.md
    [ "$(versions packaging/gimbal.spec '^Version: +')" = "$version" ] || echo packaging/gimbal.spec
    [ "$(versions README.md 'from: "')" = "$version" ] || echo README.md
    [ "$(versions Protocols/README.md 'gimbald ')" = "$version" ] || echo Protocols/README.md
    [ "$(versions Protocols/mqtt.md 'gimbal-mqtt ')" = "$version" ] || echo Protocols/mqtt.md
    local program page
    for program in gimbald gimbal gimbal-mqtt; do
        "${SCRATCH:-.build}/release/$program" --version | grep -qx "$program $version" || echo "$program"
    done
    # The footer of a man page is its operating system.
    for page in "${SCRATCH:-.build}"/{share/man?,share-of/gimbal-mqtt}/*.[18]; do
        grep -qxE "[.]Os \"gimbal(-mqtt)? $version\"" "$page" || echo "$page"
    done
}

# MARK: Refusals

# refuses WORDS COMMAND…: after a command a clone's commit cannot be released, and one line says why.
refuses() {
    local words=$1 output
    shift
    (cd "$folder/one" && "$@")
    if output=$(cd "$folder/one" && debian/release.py --check 2>&1); then return 1; fi
    [[ $output == "release: $words"* && $output != *$'\n'* ]] || { echo "it says: $output" && false; }
}

is_release() { (cd "$folder/one" && debian/release.py --check); }
tag() { git tag --force "v$version" >/dev/null; }
commit_and_tag() { commit one 'another' && tag; }

# In the clone, this version's section gets its date, or loses it.
dated() { sed -i "s/^## \[$version\] - .*/## [$version] - ${1-$date}/" CHANGELOG.md; }

refusals() {
    check 'a commit without a tag' refuses "this commit has no tag v$version" true
    check 'a version without its date' refuses "CHANGELOG.md has no section [$version] - $date" undated
    check 'a tree with a change' refuses 'this tree is not clean: M CHANGELOG.md' dated
    check 'a clean one, dated and tagged, is a release' released
    check 'a file of which git knows nothing' refuses 'this tree is not clean: ?? other' touch other
    rm "$folder/one/other"
    check 'a date to come' refuses 'debian/changelog has a date that is still to come' later
    check 'two versions' refuses "debian/changelog begins with 9.9.9, and the sources say $version" other_version
}

undated() { dated 'not yet tagged' && commit_and_tag; }
released() { (cd "$folder/one" && commit_and_tag) && is_release; }
later() { sed -i '0,/^ -- /s/>  .*/>  Mon, 01 Jan 2057 00:00:00 +0000/' debian/changelog && commit_and_tag; }
other_version() { sed -i '1s/([^)]*)/(9.9.9)/' debian/changelog && commit_and_tag; }

# MARK: The same bytes

# elsewhere COMMAND…: with another time zone, language and umask.
elsewhere() { (umask 027 && TZ=Pacific/Kiritimati LC_ALL=C.UTF-8 "$@"); }

source_of() { cd "$folder/$1" && debian/release.py --source out; }

sources() {
    git clone --quiet "$folder/one" "$folder/another one"
    check 'the source archive is made' source_of one
    check 'and made elsewhere' elsewhere source_of 'another one'
    check 'it is the same, byte for byte' cmp "$folder"/{one,another\ one}/"out/gimbal-$version.tar.xz"
    tar -tf "$folder/one/out/gimbal-$version.tar.xz" >"$folder/files"
    check 'it has the versions of other packages' grep -qx "gimbal-$version/Package.resolved" "$folder/files"
    check 'it has what is committed, and nothing else' diff \
        <(sed -n "s|^gimbal-$version/\(.*[^/]\)$|\1|p" "$folder/files" | sort) \
        <({ git -C "$folder/one" ls-files && echo Package.resolved; } | sort)
}

# MARK: Bill of materials

# lists JQ: whether the list satisfies a `jq` filter.
lists() { jq --exit-status "$1" "$folder/list.json" >/dev/null; }

# links PACKAGE OTHER: whether one is linked into another according to the list.
links() {
    lists "any(.relationships[]; .relationshipType == \"STATIC_LINK\" and .spdxElementId == \"SPDXRef-$1\"
        and .relatedSpdxElement == \"SPDXRef-$2\")"
}

# valid: whether spdx-tools find nothing wrong with the list. They must be unpacked: they are a namespace package.
valid() {
    has "$python" yaml || { echo 'release: skipped: the SPDX list by spdx-tools: there is no yaml' && return; }
    fetch_wheels Tests/System/support/spdx.txt 'the SPDX list by spdx-tools' || return 0
    for wheel in "$folder"/*.whl; do "$python" -m zipfile -e "$wheel" "$folder/modules"; done
    check 'spdx-tools find nothing wrong with it' is_valid "$folder/list.json"
    sed 's/"GENERATED_FROM"/"MADE_FROM"/' "$folder/list.json" >"$folder/wrong.json"
    check 'they find what is wrong' grep -q MADE_FROM <(is_valid "$folder/wrong.json" 2>&1)
}

is_valid() {
    cp "$1" "$folder/list.spdx.json"
    PYTHONPATH=$folder/modules "$python" -m spdx_tools.spdx.clitools.pyspdxtools --infile "$folder/list.spdx.json"
}

list() { debian/release.py --spdx "${SCRATCH:-.build}" gimbal gimbal-mqtt >"$folder/list.json"; }

inside() {
    check 'the list of what is inside is made' list
    [ -s "$folder/list.json" ] || return 0
    check 'gimbal has swift-argument-parser' links gimbal swift-argument-parser
    check 'and Swift' links gimbal Swift
    check 'it has Natural Earth' lists 'any(.relationships[]; .relatedSpdxElement == "SPDXRef-Natural-Earth")'
    check 'what is linked has a version and a licence' lists '
        [.relationships[] | select(.relationshipType == "STATIC_LINK").relatedSpdxElement] -
        [.packages[] | select(.versionInfo != "NOASSERTION" and .licenseDeclared != "NOASSERTION").SPDXID] == []'
    valid
}

# MARK: Everything

make_release() { cd "$folder/$1" && SCRATCH=.build make --no-print-directory release; }

twice() {
    (cd "$folder/one" && dated && commit_and_tag)
    mkdir "$folder/deeper"
    git clone --quiet "$folder/one" "$folder/deeper/other"
    check 'a release is made' make_release one
    check 'and another one elsewhere' elsewhere make_release 'deeper/other'
    local first=$folder/one/.build/gimbal-release second="$folder/deeper/other/.build/gimbal-release" file
    check 'they have the same files' diff <(ls "$first") <(ls "$second")
    for file in "$first"/*; do check "${file##*/} is the same, byte for byte" cmp "$file" "$second/${file##*/}"; done
    check 'the checksums hold' sums "$first"
    cp "$first/gimbal-$version.spdx.json" "$folder/list.json"
    check 'gimbal-web has Hummingbird' links gimbal-web hummingbird
    check 'and SwiftNIO' links gimbal-web swift-nio
    check 'and BoringSSL, inside of another package' lists '
        any(.relationships[]; .spdxElementId == "SPDXRef-swift-nio-ssl" and .relatedSpdxElement == "SPDXRef-BoringSSL")'
    valid
}

sums() { cd "$1" && sha256sum --check --strict --quiet SHA256SUMS; }

clone one
if [ "${1:-}" = twice ]; then
    twice
else
    check 'it has one version everywhere' silent one_version
    refusals
    sources
    inside
fi
conclude
