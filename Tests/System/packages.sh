#!/usr/bin/env bash
# Gimbal as a dependency: another package with the README's lines, by URL and by path, builds and runs. It fetches no
# other package, and needs no libevent or libexpat. Prints failures, and a last line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

failed=0
fail() {
    failed=$((failed + 1))
    printf 'packages: FAILED: %s\n' "$*"
}

# The project as others get it: a repository with the current files and a tagged version.
version=$(sed -n 's/.*gimbalVersion = "\(.*\)"/\1/p' Sources/Core/GimbalProtocol/Version.swift)
mkdir "$folder/gimbal"
cp -R Package.swift Sources "$folder/gimbal"
git() { command git -C "$folder/gimbal" -c user.name=nobody -c user.email=nobody@localhost "$@"; }
git init --quiet
git add --all
git commit --quiet --message 'as it is'
git tag "$version"

# Simulates a machine without the development files.
mkdir "$folder/bin"
printf '#!/bin/sh\necho\n' >"$folder/bin/pkg-config"
chmod +x "$folder/bin/pkg-config"
export PATH="$folder/bin:$PATH" PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR="$folder/bin"

# manifest FROM [TRAITS]: prints a package with the README's lines and this source of the dependency.
manifest() {
    printf '// swift-tools-version: 6.1\nimport PackageDescription\n\nlet package = Package(\n    name: "app",\n'
    sed -n '/^```swift manifest$/,/^```$/ { /^```/! p; }' README.md |
        sed -e "s|\.package(.*)|.package($1, traits: [${2-}])|"
    printf ')\n'
}

package=$folder/app
mkdir -p "$package/Sources/app"
cat >"$package/Sources/app/main.swift" <<'SWIFT'
import GimbalClient
import MapCamera

var camera = Camera()
camera.apply(.zoomTo(9))
print(camera.position.zoom, Gimbal(path: "/nonexistent/gimbal.sock").connectionState)
SWIFT

# uses WHAT FROM [WITHOUT]: builds and runs with the libraries alone, or with all but one.
uses() {
    manifest "$2" | sed "/name: \"${3:-none}\"/d" >"$package/Package.swift"
    rm -f "$package/Package.resolved"
    if ! swift build --disable-index-store --package-path "$package" --cache-path "$folder/cache" >"$folder/log" 2>&1; then
        cat "$folder/log"
        fail "a package with Gimbal by $1 does not build"
        return
    fi
    output=$("$package/.build/debug/app")
    [ "$output" = '9.0 idle' ] || fail "by $1, the program said: $output"
    ! grep -Ei 'libevent|expat|argument-parser|warning' "$folder/log" || fail "by $1, that was to be heard"
    others=$(find "$package/.build/checkouts" -mindepth 1 -maxdepth 1 ! -name gimbal 2>/dev/null)
    [ -z "$others" ] || fail "by $1, other packages were fetched: $others"
    ! grep -q argument-parser "$package/Package.resolved" 2>/dev/null || fail "by $1, swift-argument-parser is a pin"
}

[ "$(manifest x | grep -c '\.package(x, traits: \[\])')" = 1 ] || fail 'the README has no line .package(...)'
[ "$(sed -n '/^```swift manifest$/,/^```$/p' README.md | grep -c 'traits: \[\]')" = 1 ] || fail 'the README leaves out no trait'
uses URL "url: \"file://$folder/gimbal\", from: \"$version\""
rm -rf "$package/.build"
uses path 'path: "../gimbal"'

# The camera alone, without a library that calls the system: the libm functions it needs are linked.
cat >"$package/Sources/app/main.swift" <<'SWIFT'
import MapCamera

var camera = Camera()
camera.apply(.zoomTo(9))
print(camera.position.zoom, "idle")
SWIFT
uses 'path for its camera' 'path: "../gimbal"' GimbalClient

# With the programs all these words do appear, so the search above would have found them.
manifest 'path: "../gimbal"' '"Programs"' >"$package/Package.swift"
swift build --package-path "$package" --target MapCamera >"$folder/log" 2>&1 || true
for word in argument-parser libevent expat; do
    grep -qi "$word" "$folder/log" || fail "with the programs there is no word of $word"
done

[ "$failed" = 0 ] || exit 1
echo 'packages: the libraries are had by URL and by path, alone'
