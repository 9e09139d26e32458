#!/usr/bin/env bash
# The adapters of Protocols/examples/adapters in Debian's chromium: MapLibre, deck.gl and Leaflet compared with the
# camera cases and leading a daemon's camera, the numbers of engines that are not installed, and flights compared frame
# by frame with MapLibre's. MapLibre and deck.gl are extracted from wheels of the Python registry into a temporary
# folder. Prints failures, and a last line with the worst errors.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
programs=$PWD/${SCRATCH:-.build}/release
support=Tests/Page/Browser/adapters
export PYTHONDONTWRITEBYTECODE=1

# shellcheck disable=SC2034 # The shared function has it.
name=adapters
# shellcheck source=support/container.sh
source Tests/System/support/container.sh
# shellcheck source=support/wheels.sh
source Tests/System/support/wheels.sh

for part in /usr/bin/chromium /usr/bin/chromedriver /usr/share/javascript/leaflet/leaflet.js; do
    [ -e "$part" ] || { echo "adapters: skipped: maps in a browser: $part is missing" && exit; }
done
has $python selenium || { echo 'adapters: skipped: maps in a browser: there is no selenium' && exit; }
has $python mpmath || { echo 'adapters: skipped: maps in a browser: there is no mpmath' && exit; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/engines"
# For one platform, because only files for browsers are used.
one=(--python-version 3.11 --implementation cp --abi abi3 --abi none --platform manylinux2014_x86_64 --platform any)
if fetch_wheels "$support/engines.txt" 'MapLibre and deck.gl' "${one[@]}"; then
    unzip() { "$python" -m zipfile --extract "$1" "$folder/$2"; }
    unzip "$folder"/roadstyle-*.whl roadstyle
    unzip "$folder"/pydeck-*.whl pydeck
    cp "$folder"/roadstyle/roadstyle/vendor/maplibre-gl.* "$folder/engines"
    cp "$folder/pydeck/pydeck/nbextension/static/index.js" "$folder/engines/deck.js"
fi

web=()
for build in release debug; do
    program=$PWD/${SCRATCH:-.build}/$build/gimbal-web
    [ ! -x "$program" ] || web=("$program")
done
"$python" "$support/adapters.py" "$folder/engines" "$programs/gimbald" "${web[@]}"
