#!/bin/sh
# Compares what the traces beside this file do to a camera with their .expect files.
# Usage: test.sh [FILE.xml], which receives the results as JUnit XML.
set -eu
cd "$(dirname "$0")"
exec "${GIMBAL:-gimbal}" expect ./*.trace.ndjson ${1:+--junit "$1"}
