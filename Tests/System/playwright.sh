#!/usr/bin/env bash
# The pytest plugin in Protocols/examples/playwright: fingers on Gimbal's own page and on one with Leaflet in Debian's
# chromium, cameras compared with right and wrong golden files, and a test's own daemon. Playwright is installed from
# wheels of the Python registry into a temporary folder. Prints failures, and a last line.
set -euo pipefail
# shellcheck disable=SC2034 # The shared functions have it.
name=playwright
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=support/container.sh
source Tests/System/support/container.sh
# shellcheck source=support/wheels.sh
source Tests/System/support/wheels.sh
programs=$(realpath "${SCRATCH:-.build}")/debug
export GIMBAL=$programs/gimbal GIMBALD=$programs/gimbald GIMBAL_WEB=$programs/gimbal-web PYTHONDONTWRITEBYTECODE=1

for part in /usr/bin/chromium /usr/share/javascript/leaflet/leaflet.js; do
    [ -e "$part" ] || { echo "playwright: skipped: fingers by Playwright: $part is missing" && exit; }
done
has $python pip || { echo 'playwright: skipped: fingers by Playwright: there is no pip' && exit; }
[ -x "$GIMBAL_WEB" ] || { echo 'playwright: FAILED: gimbal-web is not built for tests' && exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export PYTHONPATH=$folder/python
fetch_wheels Tests/Page/Browser/playwright.txt 'fingers by Playwright' || exit 0
$python -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps --no-index \
    --target "$PYTHONPATH" "$folder"/*.whl

# Each test is a check; a failure shows pytest's whole output.
status=0
$python -m pytest -v -p no:cacheprovider --basetemp "$folder/tests" Protocols/examples/playwright >"$folder/log" 2>&1 || status=$?
while read -r test result; do
    check "$test" [ "$result" = PASSED ]
done < <(sed -n 's/^[^ ]*::\([^ ]*\) \([A-Z]*\) .*/\1 \2/p' "$folder/log")
check 'pytest has found tests, and all of them pass' [ $status = 0 ]
[ $failed = 0 ] || cat "$folder/log"
conclude
