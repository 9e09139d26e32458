#!/usr/bin/env bash
# The camera and tour cases that the unit tests hold the camera against, computed anew.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
for kind in camera tour; do
    found=$(Tests/Core/MapCameraTests/Cases/$kind-cases.py check Tests/Core/MapCameraTests/Cases/$kind-cases.ndjson)
    echo "$kind-cases: $found"
done
