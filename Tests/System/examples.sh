#!/usr/bin/env bash
# The example tests in Protocols/examples/testing: in shell, with pytest, with Leaflet in Debian's chromium, and results
# read by an independent reader. Swift Testing's are among the unit tests. Prints failures, and a last line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=support/container.sh
source Tests/System/support/container.sh
GIMBAL=$PWD/${SCRATCH:-.build}/release/gimbal
export GIMBAL PYTHONDONTWRITEBYTECODE=1
examples=Protocols/examples/testing

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
    failed=$((failed + 1))
    printf 'examples: FAILED: %s\n' "$*"
}

"$examples/test.sh" "$folder/results.xml" >"$folder/log" || { cat "$folder/log" && fail test.sh; }

# One changed number fails, and the report names the place.
sed 's/"scale":1\.5/"scale":1.6/' "$examples/pinch.trace.ndjson" >"$folder/changed.ndjson"
if "$GIMBAL" expect "$folder/changed.ndjson" --golden "$examples/pinch.golden.ndjson" --tolerance 0.5pt \
    --junit "$folder/failed.xml" >"$folder/log"; then
    fail 'a trace with a changed number is as expected'
fi
grep -q 'first apart at .* s, line' "$folder/log" || fail 'the report names no place'

if has $python junitparser; then
    $python "$examples/results.py" "$folder/results.xml" >"$folder/log" || fail 'results.py finds a failure'
    ! $python "$examples/results.py" "$folder/failed.xml" >"$folder/log" || fail 'results.py finds no failure'
    grep -q '^1 failed$' "$folder/log" || fail 'results.py does not count one failure'
else
    echo 'examples: skipped: reading results: there is no junitparser'
fi

if has $python pytest; then
    $python -m pytest -q -p no:cacheprovider "$examples/test_camera.py" >"$folder/log" 2>&1 ||
        { cat "$folder/log" && fail test_camera.py; }
    if has $python selenium && [ -x /usr/bin/chromium ] && [ -x /usr/bin/chromedriver ] && [ -d /usr/share/javascript/leaflet ]; then
        $python -m pytest -q -p no:cacheprovider "$examples/test_leaflet.py" >"$folder/log" 2>&1 ||
            { cat "$folder/log" && fail test_leaflet.py; }
    else
        echo 'examples: skipped: fingers in a browser: chromium, chromedriver, selenium or Leaflet is missing'
    fi
else
    echo 'examples: skipped: tests with pytest: there is no pytest'
fi

[ $failed = 0 ] || exit 1
echo 'examples: all pass'
