#!/usr/bin/env bash
# The README's figures of speed are those of the committed results, and of nothing else, and the picture of what was kept is
# that of its lines. It says a last line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

Tests/Benchmarks/readme.py --check && Tests/Benchmarks/history.py --check || { echo 'figures: FAILED' && exit 1; }
echo 'figures: passed'
