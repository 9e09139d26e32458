#!/usr/bin/env bash
# The style of the Swift sources, as .swift-format has it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if ! swift format --version >/dev/null 2>&1; then
    echo 'style: skipped: this toolchain has no swift format'
    exit 0
fi
make --no-print-directory lint
