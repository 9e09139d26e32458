#!/usr/bin/env bash
# Recomputes the camera and tour cases with which the unit tests compare the camera.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PYTHONDONTWRITEBYTECODE=1
for kind in camera tour; do
    found=$(Tests/Core/MapCameraTests/Cases/$kind-cases.py check Tests/Core/MapCameraTests/Cases/$kind-cases.ndjson)
    echo "$kind-cases: $found"
done
