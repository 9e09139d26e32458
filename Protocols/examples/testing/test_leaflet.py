"""Performs a trace's fingers on a page with Leaflet, by chromedriver: they arrive unchanged, and the map follows.

The page's own touches, read back by Gimbal, give the camera that the export predicted. Leaflet's camera is not compared
with it, since another engine has its own gestures. Debian: chromium-driver, python3-selenium, libjs-leaflet.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

GIMBAL = os.environ.get("GIMBAL", "gimbal")
LEAFLET = Path("/usr/share/javascript/leaflet")
START, ZOOM = (48.8584, 2.2945), 14
PAGE = f"""<!doctype html>
<meta name="viewport" content="width=device-width">
<link rel="stylesheet" href="{LEAFLET.as_uri()}/leaflet.css">
<style>html, body {{ margin: 0; overflow: hidden }} #map {{ width: 390px; height: 844px }}</style>
<div id="map"></div>
<script src="{LEAFLET.as_uri()}/leaflet.js"></script>
<script>
const touches = [];
for (const type of ["touchstart", "touchmove", "touchend", "touchcancel"])
    addEventListener(type, (event) => touches.push({{
        type, timeStamp: event.timeStamp, touches: [...event.touches].map(
            ({{ identifier, clientX, clientY }}) => ({{ identifier, clientX, clientY }})),
    }}), {{ capture: true, passive: true }});
const map = L.map("map", {{ zoomSnap: 0, zoomControl: false, inertia: false }}).setView({list(START)}, {ZOOM});
</script>"""


def gimbal(*arguments, status=0):
    result = subprocess.run([GIMBAL, *map(str, arguments)], capture_output=True, text=True)
    assert result.returncode == status, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    # Chromium's sandbox does not start as root, which is common in continuous integration.
    for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]:
        options.add_argument(argument)
    screen = {"width": 390, "height": 844, "pixelRatio": 1, "touch": True}
    options.add_experimental_option("mobileEmulation", {"deviceMetrics": screen})
    with webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options) as browser:
        yield browser


@pytest.mark.parametrize("gesture", ["pan", "pinch", "rotate", "tilt", "double-tap", "random"])
def test_fingers_arrive(browser, tmp_path, gesture):
    trace, golden, page = tmp_path / "trace.ndjson", tmp_path / "golden.ndjson", tmp_path / "page.html"
    gimbal("make", gesture, "--seed", 2, "--duration", "3s" if gesture == "random" else "600ms", "-o", trace,
           "--start", "{},{}".format(*START), "--zoom", ZOOM)
    actions = json.loads(gimbal("convert", trace, "--to", "webdriver", "--expected", golden))

    page.write_text(PAGE)
    browser.get(page.as_uri())
    before = browser.execute_script("return [map.getCenter().lat, map.getCenter().lng, map.getZoom()]")
    browser.execute("actions", actions)
    after = browser.execute_script("return [map.getCenter().lat, map.getCenter().lng, map.getZoom()]")

    log = tmp_path / "touches.ndjson"
    log.write_text("\n".join(map(json.dumps, browser.execute_script("return touches"))) + "\n")
    end = json.loads(golden.read_text().splitlines()[-1])["position"]
    gimbal("expect", log, "--viewport", "390x844", "--from", "{},{}".format(*START), "--from-zoom", ZOOM,
           "--target={latitude},{longitude}".format(**end["target"]), "--zoom", end["zoom"],
           "--bearing", end["bearing"], "--angle", end["viewingAngle"], "--within", "1pt,0.01zoom,0.5deg")
    if gesture in ("pan", "pinch"):
        assert after != before, "the map has not moved"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_page_performs_flings(browser, tmp_path, seed):
    fingers, page = tmp_path / "fingers.ndjson", tmp_path / "page.html"
    gimbal("make", "fling", "--seed", seed, "--touches", "-o", fingers)
    page.write_text(PAGE)
    browser.get(page.as_uri())
    browser.execute_script((Path(__file__).parent / "fingers.js").read_text() + "window.performFingers = performFingers")
    browser.set_script_timeout(30)
    browser.execute_async_script("performFingers(arguments[0]).then(arguments[1])", fingers.read_text())

    log = tmp_path / "touches.ndjson"
    log.write_text("\n".join(map(json.dumps, browser.execute_script("return touches"))) + "\n")
    start = ["--viewport", "390x844", "--from", "{},{}".format(*START), "--from-zoom", ZOOM]
    told = gimbal("run", fingers, *start).splitlines()
    end = json.loads(told[-1])["position"]
    lifted = json.loads(fingers.read_text().splitlines()[-1])["timeStamp"]
    assert json.loads(told[-2])["timeMs"] > 200 and lifted > 0, "nothing is thrown"
    gimbal("expect", log, *start, "--target={latitude},{longitude}".format(**end["target"]), "--zoom", end["zoom"],
           "--within", "0.5pt,0.001zoom")
