"""Tests a camera with pytest: what a trace makes it do, and an app's own log of it."""

import json
import os
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
GIMBAL = os.environ.get("GIMBAL", "gimbal")


def gimbal(*arguments):
    """Runs a command and returns its output; a failure shows what it printed."""
    result = subprocess.run([GIMBAL, *map(str, arguments)], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_pinch_zooms_in_by_one():
    gimbal("expect", HERE / "pinch.trace.ndjson", "--zoom", 15, "--within", "0.01zoom", "--idle-by", "1s")


def test_app_follows_the_trace(tmp_path):
    # An app would log its own camera; this test writes every other frame of Gimbal's camera into a table.
    events = [json.loads(line) for line in gimbal("run", HERE / "pinch.trace.ndjson").splitlines()]
    log = tmp_path / "camera.csv"
    with log.open("w") as table:
        print("time,latitude,longitude,zoom,bearing,angle", file=table)
        for event in events[:-1:2] + [events[-2]]:
            at = event["position"]
            place = at["target"]
            print(event["timeMs"], place["latitude"], place["longitude"], at["zoom"], at["bearing"], at["viewingAngle"],
                  sep=",", file=table)
    gimbal("expect", log, "--golden", HERE / "pinch.golden.ndjson", "--tolerance", "2pt,0.05zoom,1deg,20ms")
