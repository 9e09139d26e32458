#!/usr/bin/env bash
# The page in Debian's chromium, served by `gimbal web` with a daemon that it starts: fingers on one page compared with
# another page and `gimbal get`, projections with the daemon's and the camera cases; hidden, frozen and closed tabs; a
# phone as touch surface; dropped files; watch-only links. The core also runs in Debian's Firefox, if installed. Prints
# failures, and a last line with the time from a touch to the other page's frame. PAGE_PICTURES=FOLDER keeps pictures in
# both themes and three sizes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=support/container.sh
source Tests/System/support/container.sh
programs=$(realpath "${SCRATCH:-.build}")/debug
export PYTHONDONTWRITEBYTECODE=1

for part in /usr/bin/chromium /usr/bin/chromedriver; do
    [ -e "$part" ] || { echo "page: skipped: the page in a browser: $part is missing" && exit; }
done
has $python selenium || { echo 'page: skipped: the page in a browser: there is no selenium' && exit; }
[ -x "$programs/gimbal-web" ] || { echo 'page: FAILED: gimbal-web is not built for tests' && exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
$python Tests/Page/Browser/page.py "$programs" "$folder"
