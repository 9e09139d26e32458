#!/usr/bin/env bash
# The style: words that hide who acts are not used in sources and documents, and Swift is formatted by .swift-format.
# Prints failures, and a last line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

words='nobody|somebody|whoever|whom|whomever|anybody|everybody|in bad company|beyond all measure'
hidden() { grep -rnwiIE "$words" --include='*.swift' --include='*.md' --include='*.js' "$@" || true; }

found=$(hidden Sources Protocols packaging README.md CONTRIBUTING.md SECURITY.md)
[ -z "$found" ] || { printf 'style: FAILED: these do not say who acts:\n%s\n' "$found" && exit 1; }
sample=$(mktemp --suffix .swift)
trap 'rm -f "$sample"' EXIT
echo '// Nobody waits.' >"$sample"
[ -n "$(hidden "$sample")" ] || { echo 'style: FAILED: the words are not found' && exit 1; }

if ! swift format --version >/dev/null 2>&1; then
    echo 'style: skipped: this toolchain has no swift format'
    exit 0
fi
make --no-print-directory lint
