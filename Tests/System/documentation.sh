#!/usr/bin/env bash
# The documentation of the libraries: every public symbol has a comment, as the compiler's symbol graphs tell of the
# modules that the tests were built from, and the pages are rendered without a warning. It says which have none, and a
# last line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
modules=${SCRATCH:-.build}/debug/Modules

# What other programs may import.
libraries=(MapCamera Gestures GimbalProtocol GimbalClient)

fail() { printf 'documentation: FAILED: %s\n' "$*" && exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

triple=$(swift -print-target-info | jq -r .target.unversionedTriple)
for library in "${libraries[@]}"; do
    [ -f "$modules/$library.swiftmodule" ] || fail "$library is not built: swift build --build-tests"
    swift symbolgraph-extract -module-name "$library" -I "$modules" -target "$triple" \
        -minimum-access-level public -skip-synthesized-members -output-dir "$folder"
done

# A symbol without a location was written by the compiler.
jq -r --arg root "file://$PWD/" '.symbols[] | select(.location) |
    "\(if .docComment then "has" else "lacks" end) \(.location.uri | ltrimstr($root)):\(.location.position.line + 1): \(.pathComponents | join("."))"
    ' "$folder"/*.symbols.json >"$folder/symbols"
sed -n 's/^lacks //p' "$folder/symbols" | sort -t: -k1,1 -k2,2n >"$folder/lacking"
count=$(wc -l <"$folder/symbols")
[ "$count" -gt 0 ] || fail 'no public symbols were found'
if [ -s "$folder/lacking" ]; then
    cat "$folder/lacking"
    fail "$(wc -l <"$folder/lacking") of $count public symbols have no documentation"
fi

make --no-print-directory docs >"$folder/log" || { cat "$folder/log" && fail 'make docs'; }
pages=$(find "${SCRATCH:-.build}/docs/data/documentation" -name '*.json' | wc -l)
[ "$pages" -ge "$count" ] || fail "only $pages pages are rendered of $count public symbols"
for library in "${libraries[@]}"; do
    [ -f "${SCRATCH:-.build}/docs/documentation/${library,,}/index.html" ] || fail "$library has no page"
done
echo "documentation: $count public symbols have theirs, on $pages pages"
