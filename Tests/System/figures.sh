#!/usr/bin/env bash
# The README's figures of speed are those of the committed results, and of nothing else. It says a last line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

Tests/Benchmarks/readme.py --check || { echo 'figures: FAILED' && exit 1; }
echo 'figures: passed'
