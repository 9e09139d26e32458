#!/usr/bin/env bash
# The adapters of Protocols/examples/adapters in Debian's chromium: MapLibre, deck.gl and Leaflet beside the camera
# cases and leading a daemon's camera, the numbers of engines that are not here, and flights frame for frame beside
# MapLibre's. MapLibre and deck.gl are taken out of wheels of the Python registry, into a temporary folder. It says
# what fails, and a last line with the worst errors.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
programs=$PWD/${SCRATCH:-.build}/release
support=Tests/Page/Browser/adapters
export PYTHONDONTWRITEBYTECODE=1

# Debian's own Python has Debian's modules; another one may come before it on the PATH, and have pip.
python=python3
[ ! -x /usr/bin/python3 ] || python=/usr/bin/python3
has() { "$1" -c "import $2" 2>/dev/null; }

for part in /usr/bin/chromium /usr/bin/chromedriver /usr/share/javascript/leaflet/leaflet.js; do
    [ -e "$part" ] || { echo "adapters: skipped: maps in a browser: $part is missing" && exit; }
done
has $python selenium || { echo 'adapters: skipped: maps in a browser: there is no selenium' && exit; }
has $python mpmath || { echo 'adapters: skipped: maps in a browser: there is no mpmath' && exit; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { printf 'adapters: FAILED: %s\n' "$*" && exit 1; }

# fetch: the wheels, of one platform, since only what is for browsers is used.
fetch() {
    local pip=$python
    has "$pip" pip || pip=python3
    has "$pip" pip || { echo 'there is no pip' && return 1; }
    "$pip" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
        --python-version 3.11 --implementation cp --abi abi3 --abi none --platform manylinux2014_x86_64 --platform any \
        --retries 1 --timeout 15 --dest "$folder" --requirement "$support/engines.txt" 2>&1
}
mkdir "$folder/engines"
if fetch >"$folder/log"; then
    unzip() { "$python" -m zipfile --extract "$1" "$folder/$2"; }
    unzip "$folder"/roadstyle-*.whl roadstyle
    unzip "$folder"/pydeck-*.whl pydeck
    cp "$folder"/roadstyle/roadstyle/vendor/maplibre-gl.* "$folder/engines"
    cp "$folder/pydeck/pydeck/nbextension/static/index.js" "$folder/engines/deck.js"
elif grep -q 'DO NOT MATCH THE HASHES' "$folder/log"; then
    cat "$folder/log"
    fail 'a wheel is not the one that engines.txt names'
else
    echo "adapters: skipped: MapLibre and deck.gl: the Python registry gives no wheels: $(tail -n 1 "$folder/log")"
fi

web=()
for build in release debug; do
    program=$PWD/${SCRATCH:-.build}/$build/gimbal-web
    [ ! -x "$program" ] || web=("$program")
done
"$python" "$support/adapters.py" "$folder/engines" "$programs/gimbald" "${web[@]}"
