#!/usr/bin/env bash
# The libraries build on their users' systems: their system calls are in one file, and nothing calls a Linux-only
# function. Prints failures, and a last line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

fail() { printf 'portability: FAILED: %s\n' "$*" && exit 1; }

# The library products and their targets.
libraries=(Core/{MapCamera,Gestures,Touches,JSONLines,GimbalProtocol} Daemon/Hub Support/UnixSocket Client/GimbalClient)
libraries+=(Laboratory/{Traces,CameraStreams,TouchTraces,TouchScripts,Plotting,GimbalTesting})
place=Support/UnixSocket/System.swift
c_library='^ *((package|public|internal|private|fileprivate|@[a-zA-Z_]+) +)*import +(Glibc|Musl|Darwin|Foundation[A-Za-z]*|CLinux)\b'
linux='\b(epoll_[a-z]+|accept4|SOCK_(CLOEXEC|NONBLOCK)|memfd_create|pipe2|SO_PEERCRED|ucred|eventfd|timerfd_[a-z]+|signalfd)\b|/proc/'

# objections FOLDER…: prints lines that would not build or work elsewhere.
objections() {
    grep -rnE --include='*.swift' "$c_library" "$@" | grep -vF "Sources/$place:" |
        grep -v '^Sources/Laboratory/GimbalTesting/.*import Foundation$' || true
    grep -rnE --include='*.swift' "$linux" "$@" | grep -vE '^[^:]+:[0-9]+: *//' || true
}

folders=()
for library in "${libraries[@]}"; do
    [ -n "$(find "Sources/$library" -name '*.swift' -print -quit)" ] || fail "there is no Sources/$library"
    folders+=("Sources/$library")
done
found=$(objections "${folders[@]}")
[ -z "$found" ] || fail "$found"

# Each of these would be found.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for line in 'import Glibc' 'package import Foundation' 'accept4(descriptor, nil, nil, 0)' 'open("/proc/self/exe", 0)'; do
    echo "$line" >"$folder/Sample.swift"
    [ -n "$(objections "$folder")" ] || fail "\"$line\" is not found"
done
# The camera for other processors and systems, as far as this toolchain has their standard libraries.
echo 'let half = 0.5' >"$folder/Sample.swift"
for triple in arm64-apple-ios18.0 aarch64-none-none-elf; do
    elsewhere=(swiftc -typecheck -target "$triple" -enable-experimental-feature Embedded -parse-as-library -package-name x)
    if ! "${elsewhere[@]}" "$folder/Sample.swift" 2>/dev/null; then
        echo "portability to $triple: skipped: this toolchain has no standard library for it"
    elif ! "${elsewhere[@]}" Sources/Core/MapCamera/*.swift >"$folder/log" 2>&1; then
        fail "MapCamera for $triple: $(cat "$folder/log")"
    fi
done
echo "portability: ${#libraries[@]} libraries name a C library in one file alone, and nothing that only Linux has"
