#!/usr/bin/env bash
# The README's speed figures match the committed results, and the picture of the history matches its lines. Prints a
# last line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

Tests/Benchmarks/readme.py --check && Tests/Benchmarks/history.py --check || { echo 'figures: FAILED' && exit 1; }
echo 'figures: passed'
