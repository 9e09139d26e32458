"""Tests pages with Playwright: Gimbal's own, which its camera moves, and one with Leaflet, which moves its own map."""

import os
import subprocess
import time
from pathlib import Path

import pytest
from pytest_gimbal import PATIENCE, gimbal, running

TOLERANCE = "0.1pt,0.001zoom,0.1deg,100ms"
START, ZOOM = {"latitude": 48.8584, "longitude": 2.2945}, 14
LEAFLET = Path("/usr/share/javascript/leaflet").as_uri()
PAGE = f"""<!doctype html><meta name="viewport" content="width=device-width"><link rel="stylesheet" href="{LEAFLET}/leaflet.css">
<div id="map" style="position: fixed; inset: 0"></div><script src="{LEAFLET}/leaflet.js"></script>
<script>const map = L.map("map", {{zoomSnap: 0, inertia: false}}).setView({list(START.values())}, {ZOOM})</script>"""


@pytest.fixture
def surface(page, gimbald):
    """Gimbal's own page as a touch surface that fills the screen."""
    gimbald.client().ask(type="move", update={"kind": "set-target", "target": START, "zoom": ZOOM})
    program = os.environ.get("GIMBAL_WEB", "gimbal-web")
    with running(program, "--socket", gimbald.path, stdout=subprocess.PIPE, text=True) as server:
        page.goto(server.stdout.readline().strip() + "&surface")
        # `wait_for_function` evaluates text in the page, which its policy forbids.
        end = time.monotonic() + PATIENCE
        while page.evaluate("window.gimbal?.camera()?.position.zoom") != ZOOM:
            assert time.monotonic() < end, "the page does not show the daemon's camera"
            page.wait_for_timeout(10)
        page.evaluate("document.querySelector('#surface .bar').hidden = true")
        yield page


def shown(page):
    return page.evaluate("gimbal.camera().position")


def leaflet(page):
    latitude, longitude, zoom = page.evaluate("[map.getCenter().lat, map.getCenter().lng, map.getZoom()]")
    return {"target": {"latitude": latitude, "longitude": longitude}, "zoom": zoom, "bearing": 0, "viewingAngle": 0}


def made(gesture, folder):
    """Returns a trace of a made-up gesture."""
    start = ["--start", "{latitude},{longitude}".format(**START), "--zoom", ZOOM]
    gimbal("make", gesture, "--seed", 1, "--duration", "600ms", *start, "--output", folder / "trace.ndjson")
    return folder / "trace.ndjson"


@pytest.mark.parametrize("gesture", ["pan", "pinch", "rotate", "tilt"])
def test_gimbals_page_does_what_gimbal_does(surface, perform, tmp_path, gesture):
    perform(surface, made(gesture, tmp_path), shown).expect(TOLERANCE)


def test_a_wrong_camera_fails(surface, perform, tmp_path):
    performance = perform(surface, made("pinch", tmp_path), lambda page: {**shown(page), "bearing": 2})
    with pytest.raises(AssertionError, match="first apart at .* 2 degrees"):
        performance.expect(TOLERANCE)


def test_leaflet_does_what_it_did(page, perform, tmp_path):
    (tmp_path / "page.html").write_text(PAGE)
    page.goto((tmp_path / "page.html").as_uri())
    trace = made("pinch", tmp_path)
    # A test keeps such a log as a golden file, from a day when the app was right.
    before = perform(page, trace, leaflet).log
    page.reload()
    perform(page, trace, leaflet).expect(TOLERANCE, golden=before)
    assert leaflet(page)["zoom"] < ZOOM - 0.5, "the map has not moved"


def test_a_daemon_of_its_own(gimbald):
    watching, moving = gimbald.client(), gimbald.client()
    watching.ask(type="subscribe", camera="main")
    moving.ask(type="move", update={"kind": "zoom-to", "zoom": 5})
    assert next(event for event in watching if event["type"] == "camera-changed")["position"]["zoom"] == 5
    with pytest.raises(AssertionError, match="zoom"):
        moving.ask(type="move", update={"kind": "zoom-to", "zoom": "five"})
