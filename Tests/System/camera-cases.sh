#!/usr/bin/env bash
# The camera cases that the unit tests hold the camera against, computed anew.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
echo "camera-cases: $(Tests/Core/MapCameraTests/Cases/camera-cases.py check Tests/Core/MapCameraTests/Cases/camera-cases.ndjson)"
