#!/bin/sh
# What the traces beside this file make of a camera, against what stands in their .expect files.
# Usage: test.sh [FILE.xml], where the results go as JUnit's XML.
set -eu
cd "$(dirname "$0")"
exec "${GIMBAL:-gimbal}" expect ./*.trace.ndjson ${1:+--junit "$1"}
