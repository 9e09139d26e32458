#!/usr/bin/env python3
"""The page in Debian's chromium: fingers on one page, compared with another page, the daemon and the camera cases.

   page.py PROGRAMS FOLDER

PROGRAMS is the folder of gimbald, gimbal and gimbal-web; FOLDER is for temporary files. Prints failures.
"""

import base64
import faulthandler
import http.client
import json
import math
import os
import random
import re
import signal
import socket
import ssl
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import ANY

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from step import COUNT, LAST, RECORD, STEP, apart, tell_ahead, wrong_frames

PROGRAMS, FOLDER = Path(sys.argv[1]), Path(sys.argv[2])
ROOT = Path(__file__).resolve().parents[3]
PICTURES = os.environ.get("PAGE_PICTURES")
# Machines are slow at times; successful waits never take that long.
PATIENCE = 20

failures = []
checks = 0


def check(condition, text):
    global checks
    checks += 1
    if not condition:
        failures.append(text)
        print(f"page: FAILED: {text}", flush=True)


def click(page, selector):
    """Clicks like a person: the browser permits it what scripts may not do."""
    left, top, width, height = page.run(
        "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
        "return [box.left, box.top, box.width, box.height]", selector)
    for kind in ("mousePressed", "mouseReleased"):
        page.devtools("Input.dispatchMouseEvent", type=kind, x=left + width / 2, y=top + height / 2, button="left", clickCount=1)


def eventually(what, text):
    """Waits until a function returns a true value; returns it."""
    end = time.monotonic() + PATIENCE
    while True:
        value = what()
        if value or time.monotonic() > end:
            check(value, text)
            return value
        time.sleep(0.02)


class Daemon:
    """A connection to the daemon: requests and answers."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(str(path))
        self.lines = self.socket.makefile("r", encoding="utf-8")

    def send(self, **request):
        self.socket.sendall(json.dumps(request).encode() + b"\n")

    def ask(self, **request):
        self.send(id=1, **request)
        return json.loads(self.lines.readline())

    def camera(self, name="main"):
        return self.ask(type="get-camera", camera=name)

    def rest(self, name="main"):
        return self.ask(type="await-idle", camera=name, timeoutMs=PATIENCE * 1000)


class Page:
    """A separate browser with one page."""

    def __init__(self, link, width=1280, height=800, dark=False, mobile=False):
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        # Chromium's sandbox does not start as root, the usual user in continuous integration.
        for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars",
                         f"--window-size={width},{height}"]:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.browser.set_script_timeout(PATIENCE)
        self.size(width, height, dark, mobile)
        # Nothing that happens before the page's own scripts is missed.
        self.devtools("Page.addScriptToEvaluateOnNewDocument", source="""
            window.violations = [];
            addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective + " " + event.blockedURI));
            window.shifts = [];
            new PerformanceObserver((list) => {
                for (const entry of list.getEntries()) {
                    if (entry.hadRecentInput) continue;
                    // A list that scrolls is no jump.
                    if (entry.sources.every(({node}) => node?.parentElement?.closest("#log"))) continue;
                    // The camera's screen has another size when somebody sets its viewport.
                    if (entry.sources.some(({node}) => node?.id === "view")) continue;
                    const what = entry.sources.map(({node}) => node?.id || node?.className || node?.nodeName);
                    shifts.push({value: entry.value, what: what.join(" ")});
                }
            }).observe({type: "layout-shift", buffered: true});
        """)
        self.browser.get(link)

    def size(self, width, height, dark=False, mobile=False):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.devtools("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=5)
        self.devtools("Emulation.setEmulatedMedia",
                      features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def devtools(self, method, **parameters):
        return self.browser.execute_cdp_cmd(method, parameters)

    def run(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def asynchronously(self, body, *arguments):
        result = self.browser.execute_async_script(
            "const given = [...arguments], done = given.pop();"
            f"(async (...values) => {{ {body} }})(...given)"
            ".then((value) => done({value}), (error) => done({error: String(error.stack ?? error)}));", *arguments)
        if "error" in result:
            raise RuntimeError(result["error"])
        return result["value"]

    def camera(self, name="main"):
        return self.run("return window.gimbal?.camera(arguments[0]) ?? null", name)

    def is_shown(self, name="main"):
        """Whether the page has a camera, and has drawn it."""
        return self.run("return Boolean(window.gimbal?.camera(arguments[0]) && document.querySelector('#view').style.width)", name)

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def touch(self, kind, *points):
        """Puts fingers at points of the camera's screen."""
        box = self.run("""
            const canvas = document.querySelector("#view"), box = canvas.getBoundingClientRect();
            return {left: box.left, top: box.top, scale: box.width / gimbal.camera("main").viewport.width};""")
        self.devtools("Input.dispatchTouchEvent", type=kind, touchPoints=[
            {"x": box["left"] + x * box["scale"], "y": box["top"] + y * box["scale"], "id": index}
            for index, (x, y) in enumerate(points)])

    def mouse(self, kind, x, y, **more):
        box = self.run("const box = document.querySelector('#view').getBoundingClientRect(); return [box.left, box.top]")
        self.devtools("Input.dispatchMouseEvent", type=kind, x=box[0] + x, y=box[1] + y, **more)

    def check_is_clean(self, name):
        check(self.run("return violations") == [], f"{name}: {self.run('return violations')}")
        log = [entry for entry in self.browser.get_log("browser") if entry["level"] != "DEBUG"]
        check(log == [], f"{name}'s console: {log}")

    def explain(self):
        """Prints what the page and its browser know about why nothing is shown."""
        print(self.run("return [document.readyState, typeof window.gimbal, document.querySelector('#connection').textContent,"
                       "document.querySelector('#toast').textContent].join(' | ')"), flush=True)
        for entry in self.browser.get_log("browser"):
            print(entry, flush=True)
        for entry in self.run("return performance.getEntriesByType('resource')"):
            print(*(entry[name] for name in ("name", "startTime", "responseStart", "responseEnd", "responseStatus")), flush=True)

    def close(self):
        self.browser.quit()


def same(a, b):
    """Whether two positions are the same as printed."""
    if a is None or b is None:
        return False
    return all(abs(a[key] - b[key]) <= 1e-6 for key in ("zoom", "bearing", "viewingAngle")) and all(
        abs(a["target"][key] - b["target"][key]) <= 1e-9 for key in ("latitude", "longitude"))


# --- Hands

def pinch_and_tilt(daemon, a, b):
    """Two fingers on one page: both pages and the daemon have the same camera."""
    daemon.ask(type="move", update={"kind": "set-camera", "position": {
        "target": {"latitude": 46.5, "longitude": 8.9}, "zoom": 15, "bearing": 30, "viewingAngle": 20}})
    eventually(lambda: same(a.camera()["position"], daemon.camera()["position"]), "page A follows a command")
    for name, path in {
        "pinch": [[(195 - 40 - 5 * i, 420 - 3 * i), (195 + 40 + 5 * i, 420 + 3 * i)] for i in range(20)],
        "tilt": [[(130, 600 - 6 * i), (260, 600 - 6 * i)] for i in range(20)],
    }.items():
        before = daemon.camera()["position"]
        a.touch("touchStart", path[0][0])
        a.touch("touchStart", *path[0])
        for points in path[1:]:
            a.touch("touchMove", *points)
        eventually(lambda: b.run("return document.querySelector('#activity').textContent") != "", f"{name}: page B says what moves")
        a.touch("touchEnd")
        eventually(lambda: not b.text("#activity").startswith("p") and not b.text("#activity").startswith("t"),
                   f"{name}: page B says that it is over")
        rest = daemon.rest()["position"]
        check(not same(before, rest), f"{name} has moved the camera")
        if name == "pinch":
            check(rest["zoom"] > before["zoom"] + 0.5, f"a pinch zooms in: {before['zoom']} to {rest['zoom']}")
        else:
            check(rest["viewingAngle"] > before["viewingAngle"] + 10, "two fingers that go up tilt")
        for page, which in [(a, "A"), (b, "B")]:
            eventually(lambda: page.camera()["seq"] == daemon.camera()["seq"], f"{name}: page {which} has the last seq")
            check(same(page.camera()["position"], rest), f"{name}: page {which} {page.camera()['position']}, daemon {rest}")
            check(page.camera()["epoch"] == daemon.rest()["epoch"], f"{name}: page {which} has the epoch")


def folded(daemon, page):
    """Fingers and their effects are one row of the events, which unfolds; it is copied as the lines it consists of."""
    page.run("document.querySelector('#clear').click()")
    page.touch("touchStart", (150, 400), (250, 400))
    for i in range(1, 15):
        page.touch("touchMove", (150 - 5 * i, 400), (250 + 5 * i, 400))
    page.touch("touchEnd")
    daemon.rest()
    shown = lambda selector: page.run("return document.querySelectorAll(arguments[0]).length", selector)
    # The row comes with the first event, and is whole with the last, which the page may hear after the daemon's answer.
    text = lambda: page.run("return document.querySelector('#log .hand > button .text')?.textContent ?? ''")
    eventually(lambda: page.camera()["seq"] == daemon.camera()["seq"] and re.match(r"2 fingers → .*pinch.* s$", text()),
               "fingers and their gestures are a row")
    check(shown("#log > .hand") == 1 and shown("#log > .fingers:not(.hand), #log > .gestures:not(.hand)") == 0, "which is the only one")
    check(shown("#log .hand ol li") == 0, "it is folded")
    page.run("document.querySelector('#log .hand > button').click()")
    check(shown("#log .hand ol li") > 10 and page.run("return document.querySelector('#log .hand > button').ariaExpanded") == "true",
          "it unfolds")
    page.run("document.querySelector('#kinds .fingers input').click(); document.querySelector('#kinds .gestures input').click()")
    check(shown("#log .hand") == 0, "it is filtered as what it is made of")
    page.run("document.querySelector('#kinds .fingers input').click(); document.querySelector('#kinds .gestures input').click()")


def mouse_and_keys(daemon, page):
    def moved(what, move, has_moved):
        before = daemon.camera()["position"]
        move()
        eventually(lambda: has_moved(before, daemon.camera()["position"]), f"{what} moves the camera")
        daemon.rest()

    daemon.ask(type="move", update={"kind": "set-camera", "position": {
        "target": {"latitude": 46.5, "longitude": 8.9}, "zoom": 12, "bearing": 0, "viewingAngle": 0}})

    def drag(modifiers=0):
        page.mouse("mousePressed", 150, 150, button="left", clickCount=1, modifiers=modifiers)
        for i in range(10):
            page.mouse("mouseMoved", 150 + 6 * i, 150 - 6 * i, button="left", buttons=1, modifiers=modifiers)
        page.mouse("mouseReleased", 204, 96, button="left", modifiers=modifiers)

    moved("a drag", drag, lambda a, b: b["target"]["longitude"] < a["target"]["longitude"])
    moved("a drag with Ctrl", lambda: drag(2), lambda a, b: b["bearing"] != a["bearing"] and b["viewingAngle"] > 5)
    moved("the wheel", lambda: page.mouse("mouseWheel", 100, 100, deltaX=0, deltaY=-240), lambda a, b: b["zoom"] > a["zoom"] + 0.3)
    time.sleep(0.3)  # The wheel's gesture ends; a command would end it as well.
    view = page.find("#view")
    page.run("document.querySelector('#view').focus()")
    moved("an arrow", lambda: view.send_keys(Keys.ARROW_RIGHT), lambda a, b: not same(a, b))
    moved("plus", lambda: view.send_keys("+"), lambda a, b: b["zoom"] > a["zoom"] + 0.9)
    moved("minus", lambda: view.send_keys("-"), lambda a, b: b["zoom"] < a["zoom"] - 0.9)
    moved("Shift and an arrow", lambda: view.send_keys(Keys.SHIFT, Keys.ARROW_LEFT), lambda a, b: b["bearing"] != a["bearing"])
    moved("N", lambda: view.send_keys("n"), lambda a, b: b["bearing"] == 0)


# --- Places

def places(daemon, page):
    """The page's points agree with the daemon's and the camera cases'."""
    generator = random.Random(7)
    worst = 0
    for _ in range(20):
        angle = generator.uniform(0, 60)
        position = {
            "target": {"latitude": generator.uniform(-80, 80), "longitude": generator.uniform(-180, 179.9)},
            "zoom": generator.uniform(2, 20), "bearing": generator.uniform(0, 359), "viewingAngle": angle}
        daemon.ask(type="move", update={"kind": "set-camera", "position": position})
        state = daemon.camera()
        eventually(lambda: page.camera()["seq"] == state["seq"], "the page follows")
        spread = 300 / 2 ** state["position"]["zoom"]
        given = [{
            "latitude": max(min(state["position"]["target"]["latitude"] + generator.uniform(-spread, spread), 85), -85),
            "longitude": state["position"]["target"]["longitude"] + generator.uniform(-spread, spread)} for _ in range(10)]
        points = page.run("return arguments[0].map((place) => gimbal.project('main', place))", given)
        for place, mine in zip(given, points):
            answer = daemon.ask(type="project", coordinate=place)
            if answer["type"] == "error":
                check(mine is None, f"{place} is behind the camera: {mine}")
                continue
            point = answer["point"]
            worst = max(worst, abs(mine["x"] - point["x"]), abs(mine["y"] - point["y"]))
    check(worst < 0.01, f"a place is {worst} px from where the daemon has it")

    cases = [json.loads(line) for line in (ROOT / "Tests/Core/MapCameraTests/Cases/camera-cases.ndjson").read_text().splitlines()]
    cases = [case for case in cases if case["op"] in ("project", "unproject")]
    check(len(cases) > 50, "there are camera cases of projections")
    worst = page.asynchronously("""
        const {Projection} = await import("/projection.js");
        let [points, places] = [0, 0];
        for (const {op, camera, viewport, latLng, point, exact} of values[0]) {
            const projection = new Projection({
                target: {latitude: camera.lat, longitude: camera.lng}, zoom: camera.zoom, bearing: camera.bearing,
                viewingAngle: camera.pitch,
            }, {...viewport, padding: camera.padding});
            if (op === "project") {
                const mine = projection.project({latitude: latLng.lat, longitude: latLng.lng});
                points = Math.max(points, Math.abs(mine.x - exact.point.x), Math.abs(mine.y - exact.point.y));
            } else {
                const mine = projection.unproject(point);
                const east = Math.abs(mine.longitude - exact.latLng.lng) % 360;
                const error = Math.max(Math.abs(mine.latitude - exact.latLng.lat), Math.min(east, 360 - east));
                places = Math.max(places, error * 256 * 2 ** camera.zoom / 360);
            }
        }
        return {points, places};""", cases)
    check(worst["points"] < 0.01 and worst["places"] < 0.01, f"the camera cases are missed by {worst} px")


# --- Tabs

def frozen(daemon, page):
    """A frozen tab shows the current state once it is back."""
    page.devtools("Page.setWebLifecycleState", state="frozen")
    for i in range(3000):
        daemon.send(type="move", update={"kind": "zoom-to", "zoom": 5 + i % 7})
    last = daemon.camera()
    page.devtools("Page.setWebLifecycleState", state="active")
    eventually(lambda: page.camera()["seq"] == last["seq"], "a tab that was frozen is up to date")
    check(same(page.camera()["position"], last["position"]), "a tab that was frozen shows the camera as it is")


def hidden(daemon, path, page):
    """A hidden tab loses its fingers, continues to receive, and shows the current state once it is visible again."""
    follower = Daemon(path)
    follower.ask(type="subscribe", events=["touch"])
    page.touch("touchStart", (100, 300))
    down = json.loads(follower.lines.readline())
    check(len(down["touches"]) == 1, f"a finger is down: {down}")
    page.run("window.paints = 0; const count = () => { paints += 1; requestAnimationFrame(count); }; count()")
    page.browser.minimize_window()
    gone = json.loads(follower.lines.readline())
    check(gone["touches"] == [] and gone.get("cancelled"), f"the finger of a hidden tab is lost: {gone}")
    check(page.run("return document.hidden"), "the tab is hidden")
    paints = page.run("return paints")
    daemon.ask(type="animate", update={"kind": "zoom-to", "zoom": 9.5}, durationMs=200)
    last = daemon.rest()
    eventually(lambda: page.camera()["seq"] == last["seq"], "a hidden tab goes on hearing")
    # One frame may have been requested before.
    check(page.run("return document.hidden && paints") <= paints + 1, "and draws nothing")
    window = page.devtools("Browser.getWindowForTarget")["windowId"]
    page.devtools("Browser.setWindowBounds", windowId=window, bounds={"windowState": "normal"})
    eventually(lambda: page.run("return document.hidden ? 0 : paints") > paints + 1, "a tab that is seen again draws")
    eventually(lambda: page.text("[data-value=zoom]") == "9.500", "and shows what holds")
    page.touch("touchEnd")


def closed(link, path, watcher):
    """A tab that closes during a touch loses its fingers."""
    page = Page(link)
    eventually(page.is_shown, "a third page is there")
    check(page.text("#tabs [aria-selected=true]") == "main", "it shows the main camera, whichever was told first")
    follower = Daemon(path)
    follower.ask(type="subscribe", events=["touch"])
    page.touch("touchStart", (100, 300))
    down = json.loads(follower.lines.readline())
    check(len(down["touches"]) == 1, f"a finger is down: {down}")
    page.close()
    gone = json.loads(follower.lines.readline())
    check(gone["touches"] == [], f"the finger of a closed tab is lost: {gone}")
    eventually(lambda: watcher.text("#connection") == "live", "the other page goes on")


# --- Controls

def controls(daemon, page):
    def click(selector):
        page.run("document.querySelector(arguments[0]).click()", selector)

    click("#open-commands")
    for name, value in {"latitude": "51.5", "longitude": "-0.12", "zoom": "9", "durationMs": "0"}.items():
        field = page.find(f"form[data-command=fly] [name={name}]")
        field.clear()
        field.send_keys(value)
    field.submit()
    eventually(lambda: abs(daemon.camera()["position"]["zoom"] - 9) < 1e-6, "fly to")
    click("form[data-command=switches] [name=tilt]")
    eventually(lambda: daemon.camera()["gestures"]["tilt"] is False, "gestures off")
    click("form[data-command=switches] [name=tilt]")
    eventually(lambda: daemon.camera()["gestures"]["tilt"] is True, "gestures on")
    click("form[data-command=limits] [data-fill=overview]")
    click("form[data-command=limits] button:not([type])")
    eventually(lambda: daemon.camera()["targetBounds"], "limits of the target")
    click("[data-do=no-limits]")
    eventually(lambda: daemon.camera()["targetBounds"] is None, "no limits of the target")
    daemon.ask(type="set-viewport", width=500, height=600)
    eventually(lambda: page.camera()["viewport"]["width"] == 500, "a viewport that others set is shown")
    eventually(lambda: page.run("return document.querySelector('form[data-command=viewport]').elements.width.value") == "500"
               or click("#commands [data-close]") or click("#open-commands"), "and stands in its form")
    click("#commands [data-close]")
    click("#open-commands")
    check(page.run("return document.querySelector('form[data-command=limits]').elements.south.value") == "",
          "limits that are gone do not stand in their form")
    click("#commands [data-close]")
    daemon.ask(type="set-viewport", width=390, height=844)

    # The events: filtered, stopped, copied.
    click("#clear")
    daemon.ask(type="move", update={"kind": "zoom-to", "zoom": 7})
    eventually(lambda: "camera-changed" in page.text("#log"), "events are shown")
    click("#kinds .moves input")
    check("camera-changed" not in page.text("#log"), "events are filtered")
    click("#kinds .moves input")
    check("camera-changed" in page.text("#log"), "and shown again")
    click("#stop")
    daemon.ask(type="move", update={"kind": "zoom-to", "zoom": 8.125})
    eventually(lambda: page.camera()["position"]["zoom"] == 8.125, "the view goes on")
    check("8.125" not in page.text("#log"), "the events are stopped")
    click("#stop")


def copied(daemon, page):
    """Events are copied as the daemon's lines, with the clipboard API or the old way."""
    page.devtools("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    page.devtools("Emulation.setFocusEmulationEnabled", enabled=True)
    page.run("document.querySelector('#clear').click()")
    for zoom in (6.125, 6.25):
        daemon.ask(type="move", update={"kind": "zoom-to", "zoom": zoom})
    eventually(lambda: page.text("#log").count("idle") == 2, "events are shown")
    for way in ("the clipboard", "the old way"):
        page.asynchronously("await navigator.clipboard.writeText('nothing')")
        if way == "the old way":
            page.run("Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true})")
        click(page, "#copy")
        eventually(lambda: page.text("#copy") == "Copied", f"by {way} it says that it has copied")
        page.run("delete navigator.clipboard")
        lines = [json.loads(line) for line in page.asynchronously("return navigator.clipboard.readText()").splitlines()]
        zooms = [line["position"]["zoom"] for line in lines if line["type"] == "camera-changed"]
        check(zooms == [6.125, 6.25], f"by {way} the daemon's lines are copied: {lines}")
        eventually(lambda: page.text("#copy") == "Copy", "and can copy again")


def sample(daemon, page):
    """A sample is offered when nothing plays, and kept like any recording; a hand on the camera ends it."""
    page.run("document.querySelector('[data-sample=tilt]').click()")
    label = lambda: page.run("return document.querySelector('[data-player=play]').ariaLabel")
    eventually(lambda: label() == "Play again" and daemon.ask(type="get-replay").get("state") == "at-end", "a sample is played")
    check(daemon.camera()["position"]["viewingAngle"] > 20, f"it tilts the camera: {daemon.camera()}")
    page.touch("touchStart", (100, 300))
    for i in range(10):
        page.touch("touchMove", (100 + 9 * i, 300))
    page.touch("touchEnd")
    eventually(lambda: daemon.ask(type="get-replay")["type"] == "error", "fingers end what was played")
    eventually(lambda: page.run("return document.querySelector('#player').hidden"), "the player goes")
    daemon.rest()


def dropped(daemon, page):
    """A recording dropped on the page by a real drag plays into the chosen camera."""
    file = FOLDER / "dropped.ndjson"
    file.write_text('{"type":"trace","version":1,"camera":"elsewhere"}\n'
                    '{"type":"move","timeMs":5,"update":{"kind":"zoom-to","zoom":7.75}}\n', encoding="utf-8")
    shown = lambda: page.run("return !document.querySelector('#drop').hidden")
    data = {"items": [], "files": [str(file)], "dragOperationsMask": 1}
    drag = lambda kind: page.devtools("Input.dispatchDragEvent", type=kind, x=400, y=300, data=data)
    drag("dragEnter")
    drag("dragOver")
    eventually(shown, "a file over the page is told where it goes")
    check("main" in page.text("#drop"), "by the camera's name")
    # DevTools' own end of a drag is invisible to the page.
    page.run("dispatchEvent(new DragEvent('dragleave'))")
    eventually(lambda: not shown(), "a file that goes away is none")
    for kind in ("dragEnter", "dragOver", "drop"):
        drag(kind)
    eventually(lambda: daemon.camera()["position"]["zoom"] == 7.75, "a recording that is dropped is played")
    check(not shown(), "what was dropped is no longer over the page")
    # It is held at its end, where a later recording would be mistaken for it.
    check(daemon.ask(type="end-replay")["type"] == "ok", "and can be ended")


def surface(daemon, path, link, watcher):
    """A phone as touch surface: kept awake, with its own size, all samples, and its label shown to others."""
    page = Page("about:blank", 412, 732, mobile=True)
    page.devtools("Browser.grantPermissions", permissions=["wakeLockScreen"])
    page.devtools("Page.addScriptToEvaluateOnNewDocument", source="""
        window.locks = [];
        const request = WakeLock.prototype.request;
        WakeLock.prototype.request = async function (kind) {
            const lock = await request.call(this, kind);
            locks.push(lock);
            return lock;
        };""")
    page.browser.get(f"{link}&surface&camera=main")
    eventually(lambda: page.run("return !document.querySelector('#surface').hidden") and page.camera(), "a link begins as a surface")
    eventually(lambda: page.run("return locks.length"), "it keeps its screen awake")
    check(page.text("[data-surface=note]") == "", "and says nothing of a screen that goes dark")
    click(page, "[data-surface=size]")
    size = page.run("const {clientWidth, clientHeight} = document.querySelector('#surface canvas'); return [clientWidth, clientHeight]")
    eventually(lambda: [daemon.camera()["viewport"][key] for key in ("width", "height")] == size, f"the camera takes its size, {size}")
    check(size[0] == 412, f"which is as wide as its screen: {size}")
    eventually(lambda: page.camera()["viewport"]["width"] == 412, "and it knows")
    page.run("const name = document.querySelector('[data-surface=name]'); name.value = 'Anna'; name.onchange()")

    follower = Daemon(path)
    follower.ask(type="subscribe", events=["touch"])
    box = page.run("const box = document.querySelector('#surface canvas').getBoundingClientRect(); return [box.left, box.top]")
    fingers = lambda kind, *points: page.devtools("Input.dispatchTouchEvent", type=kind, touchPoints=[
        {"x": box[0] + x, "y": box[1] + y, "id": index} for index, (x, y) in enumerate(points)])
    page.run("document.querySelector('#surface canvas').addEventListener('pointerdown', (event) => { window.finger = event.pointerId; })")
    fingers("touchStart", (100, 300))
    down = json.loads(follower.lines.readline())
    check(down["surface"] == "Anna" and [(t["x"], t["y"]) for t in down["touches"]] == [(100, 300)], f"a finger lands where it is: {down}")
    eventually(lambda: watcher.text("#activity").endswith("Anna"), "another page says who touches")
    # A screen that samples faster than frames: the browser delivers all samples with the newest.
    page.run("""
        const box = document.querySelector("#surface canvas").getBoundingClientRect();
        const sample = (x, more) => new PointerEvent("pointermove", {
            pointerId: finger, pointerType: "touch", clientX: box.left + x, clientY: box.top + 300, bubbles: true, ...more});
        const all = [110, 120, 130, 140].map((x) => sample(x));
        document.querySelector("#surface canvas").dispatchEvent(sample(140, {coalescedEvents: all}));""")
    moved = [json.loads(follower.lines.readline())["touches"][0]["x"] for _ in range(4)]
    check(moved == [110, 120, 130, 140], f"all samples of a frame are told: {moved}")
    fingers("touchMove", (170, 300))
    fingers("touchEnd")
    eventually(lambda: watcher.text("#activity") == "", "another page says that nobody touches")
    daemon.rest()
    check(page.run("return getComputedStyle(document.querySelector('#surface canvas')).touchAction") == "none",
          "the browser has no gestures of its own there")
    if PICTURES:
        fingers("touchStart", (130, 300), (280, 420))
        watcher.browser.save_screenshot(f"{PICTURES}/touched.png")
        page.browser.save_screenshot(f"{PICTURES}/surface.png")
        fingers("touchEnd")
    other = Daemon(path)
    other.ask(type="take-lease", camera="main", forMs=60_000, label="guide")
    eventually(lambda: lock(page) == "foreign guide", "a surface knows of a lock")
    before = other.rest()["seq"]
    fingers("touchStart", (130, 300), (280, 420))
    fingers("touchMove", (100, 300), (310, 420))
    if PICTURES:
        page.browser.save_screenshot(f"{PICTURES}/locked-surface.png")
    fingers("touchEnd")
    page.asynchronously("await new Promise((resume) => setTimeout(resume, 100));")
    check(other.camera()["seq"] == before, "and sends nothing meanwhile")
    check("leased" not in page.text("#log"), "that would be refused")
    other.ask(type="end-lease", camera="main")
    eventually(lambda: lock(page) == "open ", "until it goes")
    click(page, "[data-surface=close]")
    eventually(lambda: page.run("return document.querySelector('#surface').hidden && locks.every((lock) => lock.released)"),
               "it is left, and the screen may go dark")
    page.run("document.dispatchEvent(new Event('resume'))")
    eventually(lambda: page.text("#connection") == "reconnecting", "the page reconnects")
    eventually(lambda: page.text("#connection") == "live", "and is live again")
    check(page.run("return document.querySelector('#surface').hidden"), "as the page, not as the surface that was left")
    page.check_is_clean("the surface")
    page.close()
    daemon.ask(type="set-viewport", width=390, height=844)


def grid(page):
    """The grid is in degrees, and where a second is too coarse, in metres from a full minute."""
    drawn = page.asynchronously("""
        const [{Ground, degreesText}, {Projection}] = await Promise.all([import("/ground.js"), import("/projection.js")]);
        const plain = [0, 180, -180].map((longitude) => degreesText(longitude, 45, "E", "W"));
        if (plain.join() !== "0°,180°,180°") throw new Error(`these have no side: ${plain}`);
        return values[0].map(([latitude, longitude, zoom]) => {
            const texts = [], lines = [];
            const context = new Proxy({}, {get: (_, name) => ({
                fillText: (...text) => texts.push(text[0]),
                moveTo: (x, y) => lines.push([x, y]),
                lineTo: (x, y) => lines.at(-1).push(x, y),
            })[name] ?? (() => {}), set: () => true});
            const position = {target: {latitude, longitude}, zoom, bearing: 0, viewingAngle: 0};
            const projection = new Projection(position, {width: 800, height: 600});
            new Ground().paint(context, projection, {});
            const upright = lines.filter(([x, y, otherX, otherY]) => Math.abs(x - otherX) < 1e-9 && Math.abs(y - otherY) > 100).map(([x]) => x).sort((a, b) => a - b);
            const metre = 256 * 2 ** zoom / (40075016.686 * Math.cos(latitude * Math.PI / 180));
            return {texts, metres: (upright[1] - upright[0]) / metre};
        });""", [[46.5012, 8.9021, 12], [46.5012, 8.9021, 16], [46.5012, 8.9021, 21], [-33.8568, -70.2153, 20]])
    far, near, metres, south = drawn
    check(any(re.fullmatch(r"8°5\d′E", text) for text in far["texts"]), f"minutes: {far}")
    check(any(re.fullmatch(r"8°5\d′\d\d″E", text) for text in near["texts"]), f"seconds: {near}")
    steps = {round(each["metres"], 2) for each in (metres, south)}
    check(steps <= {2, 5, 10, 20}, f"metres are round: {steps}")
    check(any(re.fullmatch(r"8°54′E \+ \d+ m", text) for text in metres["texts"]), f"metres east of a minute: {metres}")
    check(any(re.fullmatch(r"46°30′N \+ \d+ m", text) for text in metres["texts"]), f"metres north of a minute: {metres}")
    check(any(re.fullmatch(r"70°13′W \+ \d+ m", text) for text in south["texts"]), f"metres in the west: {south}")
    check(any(re.fullmatch(r"33°52′S \+ \d+ m", text) for text in south["texts"]), f"metres in the south: {south}")


def earth(page):
    """Land tiles load when visible; names do not collide; a grid of metres has its ticks; one world is visible."""
    drawn = page.asynchronously("""
        const [{Earth}, {Ground}, {Projection}] = await Promise.all(["earth", "ground", "projection"].map((name) => import(`/${name}.js`)));
        const result = [];
        for (const [latitude, longitude, zoom] of values[0]) {
            const earth = new Earth(() => come());
            let come;
            const projection = new Projection({target: {latitude, longitude}, zoom, bearing: 0, viewingAngle: 0}, {width: 800, height: 600});
            const ground = new Ground(undefined, earth);
            const texts = [];
            let lines = 0;
            const context = new Proxy({}, {get: (_, name) => ({
                fillText: (text, x, y) => texts.push({text, x, y}), lineTo: () => { lines += 1; },
                measureText: (text) => ({width: 6 * text.length}),
            })[name] ?? (() => {}), set: () => true});
            const paint = () => {
                [texts.length, lines] = [0, 0];
                ground.paint(context, projection, {}, {grid: "metres"});
                return ground.seen;
            };
            const before = paint() === null ? lines : -1;
            // The small scale stands in until the large one has come.
            while (!paint() || [...earth.tiles.values()].includes(null)) await new Promise((resume) => { come = resume; });
            paint();
            result.push({texts, lines, before, tiles: earth.tiles.size});
        }
        return result;""", [[46.4, 6.6, 9], [46.51, 6.63, 15], [51, 10, 5.5]])
    lake, near, middle = drawn
    for each in drawn:
        check(each["before"] >= 0 and each["lines"] > each["before"], f"land comes with its tiles: {each}")
        # The unit is 1 here; a text is to the right of its dot, or in the middle of what it names.
        names = [text for text in each["texts"] if not re.search("[°′+]", text["text"])]
        boxes = [(name["x"], name["x"] + 6 * len(name["text"]), name["y"]) for name in names]
        collide = [(a, b) for a in boxes for b in boxes if a is not b and a[0] < b[1] and b[0] < a[1] and abs(a[2] - b[2]) < 10]
        check(collide == [], f"names do not collide: {names}")
    texts = lambda each: [text["text"] for text in each["texts"]]
    check({"Geneva", "Lausanne"} <= set(texts(lake)), f"cities have names: {texts(lake)}")
    check({"Berlin", "Paris"} <= set(texts(middle)), f"large ones are seen from afar: {texts(middle)}")
    check(any(re.fullmatch(r"6°E [+−] \d+ km", text) for text in texts(lake)), f"kilometres from a full degree: {texts(lake)}")
    check(near["tiles"] == 2 and lake["tiles"] <= 8, f"only what is seen is asked for: {near['tiles']}, {lake['tiles']}")


def overview(page):
    """The overview shows at most one world, and never loses the camera that it follows."""
    seen = page.asynchronously("""
        const [{Overview}, {Camera}, {Theme}] = await Promise.all(["overview", "cameras", "theme"].map((name) => import(`/${name}.js`)));
        const canvas = document.createElement("canvas");
        Object.assign(canvas.style, {position: "fixed", width: "600px", height: "300px"});
        document.body.append(canvas);
        const overview = new Overview(canvas, {paint() {}}, new Theme(() => {}), () => {});
        const camera = new Camera("far", 0);
        const seen = [];
        for (const [latitude, longitude, zoom] of [[0, 0, 2], [60, 170, 12], [-80, -170, 3], [84, 10, 2], [46, 8, 16]]) {
            camera.position = {target: {latitude, longitude}, zoom, bearing: 20, viewingAngle: 30};
            overview.paint([camera], "far", null);
            const size = 256 * 2 ** overview.view.zoom;
            const {x, y} = camera.projection;
            const turns = x - overview.view.x - Math.round(x - overview.view.x);
            seen.push({worlds: 600 / size, x: turns * size, y: (y - overview.view.y) * size, top: overview.view.y * size - 150});
        }
        canvas.remove();
        return seen;""")
    for each in seen:
        check(each["worlds"] < 1.001 and each["top"] > -0.001, f"no more than one world: {each}")
        check(abs(each["x"]) < 300 and abs(each["y"]) <= 150, f"the camera is seen: {each}")


def firefox(link, path):
    """The core in Firefox: it loads, shows a camera moved by others, and its fingers move it."""
    try:
        from firefox import PATHS, Firefox
    except ImportError:
        print("page: skipped: the page in Firefox: there is no python3-wsproto", flush=True)
        return
    program = next((program for program in PATHS if Path(program).exists()), None)
    if not program:
        print(f"page: skipped: the page in Firefox: {PATHS[0]} is missing", flush=True)
        return
    # Its first answer took longer than PATIENCE beside a compiler and three busy processes on two cores.
    browser = Firefox(program, FOLDER / "firefox", 3 * PATIENCE)
    try:
        daemon = Daemon(path)
        daemon.ask(type="move", camera="fox", update={"kind": "set-camera", "position": {
            "target": {"latitude": 46.5, "longitude": 8.9}, "zoom": 12, "bearing": 0, "viewingAngle": 0}})
        browser.open(f"{link}&camera=fox", 1280, 800)
        shown = lambda: (browser.run("window.gimbal?.camera('fox')") or {}).get("position")
        eventually(lambda: same(shown(), daemon.camera("fox")["position"]), "Firefox shows the camera")
        left, top, width, height = browser.run(
            "(({left, top, width, height}) => [left, top, width, height])(document.querySelector('#view').getBoundingClientRect())")
        # It draws in its next frame, which may come after it knows the camera.
        colors = lambda: browser.run("""(() => {
            const view = document.querySelector("#view"), pixels = view.getContext("2d").getImageData(0, 0, view.width, view.height).data;
            return new Set(new Uint32Array(pixels.buffer)).size;})()""")
        eventually(lambda: colors() > 3, "Firefox draws its map in more than three colours")
        x, y = int(left + width / 2), int(top + height / 2)
        for what, paths, has_moved in [
                ("a pan", [[(x + 5 * i, y + 3 * i) for i in range(12)]], lambda a, b: a["target"] != b["target"] and a["zoom"] == b["zoom"]),
                ("a pinch", [[(x - 20 - 4 * i, y) for i in range(12)], [(x + 20 + 4 * i, y) for i in range(12)]],
                 lambda a, b: b["zoom"] > a["zoom"] + 0.5)]:
            before = daemon.camera("fox")["position"]
            browser.touch(*paths)
            eventually(lambda: has_moved(before, daemon.camera("fox")["position"]), f"{what} in Firefox moves the camera")
            rest = daemon.rest("fox")["position"]
            eventually(lambda: same(shown(), rest), f"Firefox shows the camera after {what}")
        if PICTURES:
            Path(f"{PICTURES}/firefox.png").write_bytes(base64.b64decode(browser.screenshot()))
        check(browser.complaints == [], f"Firefox's console: {browser.complaints}")
    finally:
        browser.close()


def played_again(daemon, page):
    """What was played can be sought and played again; the timeline keeps it, and shows a part and a moment of it."""
    end = daemon.ask(type="get-replay")["timeMs"]
    # Curves are coloured, lines are grey: the share of columns with a colour in a part of the picture.
    colored = lambda page, part: page.run("""
        const canvas = document.querySelector(".times canvas"), copy = document.createElement("canvas");
        const [width, height] = [Math.round((canvas.width - 170) * arguments[0]), Math.round(canvas.height / 2)];
        [copy.width, copy.height] = [width, height];
        const context = copy.getContext("2d", {willReadFrequently: true});
        context.drawImage(canvas, 96, height, width, height, 0, 0, width, height);
        const pixels = context.getImageData(0, 0, width, height).data;
        const columns = new Set();
        for (let i = 0; i < pixels.length; i += 4) {
            const colors = pixels.slice(i, i + 3);
            if (Math.max(...colors) - Math.min(...colors) > 60) columns.add((i / 4) % width);
        }
        return columns.size / width;""", part)
    check(colored(page, 0.4) < 0.5, "what was jumped over is blank")
    page.run("document.querySelector('[data-player=play]').click()")
    eventually(lambda: colored(page, 1) > 0.95, "played again, curves go from the beginning to the end")
    page.run("const place = document.querySelector('[data-player=place]'); place.value = 20000; place.oninput()")
    eventually(lambda: daemon.ask(type="get-replay")["state"] == "paused", "it is paused where it was sent")
    eventually(lambda: abs(daemon.ask(type="get-replay")["timeMs"] - 20000) < 100, "which is there")
    eventually(lambda: page.run("return Number(document.querySelector('[data-player=place]').value)") < 21000, "and the page shows it")
    check(colored(page, 1) > 0.95, "what lies before and behind the place is still known")
    left, top, width, height = page.run(
        "const box = document.querySelector('.times canvas').getBoundingClientRect();"
        "return [box.left, box.top, box.width, box.height]")
    mouse = lambda kind, part, **more: page.devtools(
        "Input.dispatchMouseEvent", type=kind, x=left + 96 + part * (width - 170), y=top + 0.6 * height, **more)
    picture = lambda: page.run("return document.querySelector('#overview canvas').toDataURL()")
    settle = "for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);"
    before = picture()
    mouse("mouseMoved", 0.9)
    eventually(lambda: picture() != before, "the overview shows the camera of the moment under the pointer")
    mouse("mouseWheel", 0.5, deltaX=0, deltaY=-400)
    eventually(lambda: not page.run("return document.querySelector('#whole').hidden"), "the wheel shows a part of the time")
    page.run("document.querySelector('#whole').click()")
    eventually(lambda: page.run("return document.querySelector('#whole').hidden"), "and all of it again")
    mouse("mousePressed", 0.2, button="left", clickCount=1)
    mouse("mouseMoved", 0.6, button="left", buttons=1)
    mouse("mouseReleased", 0.6, button="left")
    eventually(lambda: not page.run("return document.querySelector('#whole').hidden"), "so does a drag")
    page.run("document.querySelector('#whole').click()")
    page.asynchronously(settle)
    mouse("mousePressed", 0.5, button="left", clickCount=1)
    mouse("mouseReleased", 0.5, button="left")
    eventually(lambda: abs(daemon.ask(type="get-replay")["timeMs"] - end / 2) < end / 50, "a click goes there")
    page.devtools("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
    # A page that has not seen it knows nothing about it.
    other = Page(page.browser.current_url)
    eventually(other.is_shown, "another page is there")
    eventually(lambda: other.text("[data-player=time]") != "", "with a player")
    other.asynchronously(settle)
    check(colored(other, 0.4) == 0, "it draws nothing through what it has not seen")
    other.close()
    page.run("document.querySelector('[data-player=play]').click()")
    label = lambda: page.run("return document.querySelector('[data-player=play]').ariaLabel")
    eventually(lambda: label() == "Play again", "it plays to its end once more")
    # It is at its end already: only the epoch tells that it has begun anew.
    epoch = page.camera()["epoch"]
    page.run("document.querySelector('[data-player=play]').click()")
    eventually(lambda: page.camera()["epoch"] != epoch and daemon.ask(type="get-replay")["state"] == "at-end" and label() == "Play again",
               "and again from its beginning")


def recording(daemon, page, programs):
    """A recording of fingers opened in the page plays into the camera, and can be steered."""
    file = FOLDER / "drag.ndjson"
    lines = [{"viewport": {"width": 390, "height": 844}},
             {"type": "touchstart", "timeStamp": 0, "touches": [{"identifier": 0, "clientX": 100, "clientY": 200}]}]
    lines += [{"type": "touchmove", "timeStamp": 20 * i, "touches": [
        {"identifier": 0, "clientX": 100 + i / 20, "clientY": 200}]} for i in range(1, 3000)]
    lines += [{"type": "touchend", "timeStamp": 60200, "touches": []}]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    # WebDriver types only into visible elements.
    page.run("document.querySelector('#file').removeAttribute('class')")
    page.find("#file").send_keys(str(file))
    eventually(lambda: not page.run("return document.querySelector('#player').hidden"), "the player is there")
    page.run("document.querySelector('[data-player=play]').click()")
    eventually(lambda: daemon.ask(type="get-replay").get("state") == "paused", "the replay is paused")
    eventually(lambda: page.run("return document.querySelector('[data-player=play]').ariaLabel") != "Pause", "and the page knows")
    at = daemon.ask(type="get-replay")
    check(at["durationMs"] > 50000, f"its length is known: {at}")
    # Compares the seq, not the time: the first step handles what was due at the pause.
    seq = daemon.camera()["seq"]
    page.run("document.querySelector('[data-player=step]').click()")
    eventually(lambda: daemon.camera()["seq"] > seq, "a step goes on")
    page.run("const place = document.querySelector('[data-player=place]'); place.value = 30000; place.oninput()")
    eventually(lambda: abs(daemon.ask(type="get-replay")["timeMs"] - 30000) < 100, "it goes where it is sent")
    page.run("const speed = document.querySelector('[data-player=speed]'); speed.value = 'max'; speed.onchange()")
    eventually(lambda: daemon.ask(type="get-replay").get("speed") == "max", "its speed is set")
    page.run("document.querySelector('[data-player=play]').click()")
    label = lambda: page.run("return document.querySelector('[data-player=play]').ariaLabel")
    eventually(lambda: label() == "Play again", "it comes to its end, and the player stays")
    played_again(daemon, page)
    page.run("document.querySelector('[data-player=end]').click()")
    eventually(lambda: daemon.ask(type="get-replay")["type"] == "error", "it is ended")
    eventually(lambda: page.run("return document.querySelector('#player').hidden"), "and the player goes")
    # Events in flight may arrive after it, more than are shown.
    page.run("const search = document.querySelector('#search'); search.value = 'trace-ended'; search.oninput()")
    eventually(lambda: "trace-ended" in page.text("#log"), "the end is told")
    page.run("const search = document.querySelector('#search'); search.value = ''; search.oninput()")
    # A file that is not a recording is reported, too.
    (FOLDER / "none.txt").write_text("not a recording\n")
    page.find("#file").send_keys(str(FOLDER / "none.txt"))
    eventually(lambda: "neither a trace nor a recording of touches" in page.text("#toast"), "what is no recording is told")
    # For a long file the page shows the progress, and which line is not allowed there.
    page.run("""
        const toast = document.querySelector("#toast");
        window.toasts = [];
        new MutationObserver(() => toasts.push(toast.textContent)).observe(toast, {childList: true});""")
    lines = ['{"type":"trace","version":1}'] + [f'{{"type":"stop","timeMs":{i}}}' for i in range(100_000)]
    (FOLDER / "long.ndjson").write_text("\n".join(lines + ['{"type":"subscribe"}']))
    page.find("#file").send_keys(str(FOLDER / "long.ndjson"))
    eventually(lambda: "line 100002 subscribes" in page.text("#toast"), "the line is named")
    told = page.run("return window.toasts")
    check(any(re.fullmatch(r"Reading the recording: [1-9]\d?%\.", toast) for toast in told), f"how far it is: {told}")
    # Events arrive by another path than the answer: progress that arrives after it is outdated.
    page.run("""
        const real = fetch;
        window.fetch = (path, options) => {
            if (!path.startsWith("/recording")) return real(path, options);
            window.answer = real(path, options);
            return Promise.resolve(new Response("the answer came first", {status: 422}));
        };""")
    page.find("#file").send_keys(str(FOLDER / "long.ndjson"))
    eventually(lambda: page.text("#toast") == "the answer came first", "the answer is told")
    page.asynchronously("await window.answer; await new Promise((resume) => setTimeout(resume, 200));")
    told = page.run("return window.toasts")
    check(told[-1] == "the answer came first", f"what comes behind the answer is not told: {told}")
    page.run("document.querySelector('#file').className = 'hidden'")
    # The browser logs refused requests in its console.
    log = page.browser.get_log("browser")
    check(len(log) == 3 and all("422" in entry["message"] for entry in log), f"three refusals: {log}")


def lock(page):
    """Returns what is displayed beside the chosen camera about the holder of its lease."""
    return page.run("return document.querySelector('#lock').dataset.state") + " " + page.text("#lock output")


def locked(path, page, watcher):
    """Another client's lease is shown, blocks fingers, keys and commands, and ends; so does this page's for others."""
    other = Daemon(path)
    other.ask(type="take-lease", camera="main", forMs=60_000, label="guide")
    eventually(lambda: lock(page) == "foreign guide", "another client's lock is shown")
    before = page.text("#lock output + output")
    check(re.fullmatch(r"1:00|0:5\d", before), f"and how long it lasts: {before}")
    eventually(lambda: page.text("#lock output + output") < before, "which becomes less")
    check(page.run("return document.querySelector('#lock button').disabled"), "it cannot be taken meanwhile")
    seq = other.camera()["seq"]
    page.touch("touchStart", (100, 300))
    page.touch("touchMove", (200, 500))
    page.touch("touchEnd")
    eventually(lambda: page.text("#toast") == "guide has locked main.", "fingers are told why they move nothing")
    page.run("document.querySelector('#open-commands').click(); document.querySelector('[data-do=in]').click()")
    eventually(lambda: page.text("#commands [role=status]") == "guide has locked main.", "so are commands")
    page.run("document.querySelector('#commands [data-close]').click()")
    page.asynchronously("await new Promise((resume) => setTimeout(resume, 100));")
    check(other.camera()["seq"] == seq, "and nothing was moved")
    if PICTURES:
        for width, height in ((390, 844), (1400, 900)):
            for dark in (False, True):
                page.size(width, height, dark)
                page.asynchronously("for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);")
                page.browser.save_screenshot(f"{PICTURES}/locked-{width}-{'dark' if dark else 'light'}.png")
        page.size(1280, 800)
    other.ask(type="end-lease", camera="main")
    eventually(lambda: lock(page) == "open ", "it goes")
    click(page, "#lock button")
    eventually(lambda: lock(page) == "own you", "the page takes a lease")
    eventually(lambda: lock(watcher) == "foreign page", "which another page shows as that of another")
    refused = other.ask(type="move", camera="main", update={"kind": "zoom-in"})
    check(refused.get("code") == "leased", f"others are refused: {refused}")
    page.run("document.querySelector('[data-sample=tilt]').click()")
    eventually(lambda: other.ask(type="get-replay")["type"] == "replay", "the page's recordings have a part in it")
    eventually(lambda: not page.run("return document.querySelector('#player').hidden"), "and are shown")
    page.run("document.querySelector('[data-player=end]').click()")
    eventually(lambda: other.ask(type="get-replay")["type"] == "error", "the recording is ended")
    # A page that becomes visible prolongs its leases, except one that it is giving back.
    page.run("document.querySelector('#lock button').click(); document.dispatchEvent(new Event('visibilitychange'))")
    eventually(lambda: lock(page) == lock(watcher) == "open ", "the page gives its lease back")
    check(other.ask(type="move", camera="main", update={"kind": "zoom-in"})["type"] == "ok", "and others may move the camera")


# --- Tours

def mark(page):
    """Returns the chosen keyframe's disc on the overview, once that stops moving: its middle in points of the page."""
    before, here = None, []
    while before != here:
        page.asynchronously("for (let i = 0; i < 4; i++) await new Promise(requestAnimationFrame);")
        before, here = here, disc(page)
    return here


def disc(page):
    return page.run("""
        const canvas = document.querySelector("#overview canvas"), box = canvas.getBoundingClientRect();
        const copy = document.createElement("canvas"), context = copy.getContext("2d", {willReadFrequently: true});
        [copy.width, copy.height] = [canvas.width, canvas.height];
        const {color} = document.querySelector("#tabs [aria-selected=true]").dataset;
        context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(`--camera-${color}`);
        context.fillRect(0, 0, 1, 1);
        const [r, g, b] = context.getImageData(0, 0, 1, 1).data;
        context.drawImage(canvas, 0, 0);
        const {data} = context.getImageData(0, 0, canvas.width, canvas.height);
        const isDisc = (x, y) => {
            const at = 4 * (y * canvas.width + x);
            return data[at] === r && data[at + 1] === g && data[at + 2] === b;
        };
        // A disc is evenly coloured up to a radius of 8, but for its digit. No line and no dot of a camera has a ring like this one.
        const ring = Array.from({length: 24}, (_, i) => [0, Math.PI / 2].map((turn) =>
            Math.round(7 * Math.sin(2 * Math.PI * i / 24 + turn))));
        const middles = [];
        for (let y = 9; y < canvas.height - 9; y++) for (let x = 9; x < canvas.width - 9; x++) {
            if (ring.every(([right, down]) => isDisc(x + right, y + down))) middles.push([x, y]);
        }
        const middle = [0, 1].map((axis) => middles.reduce((sum, each) => sum + each[axis], 0) / middles.length);
        return [box.left + middle[0], box.top + middle[1]];""")


def saved(page):
    """Returns the downloaded file of the page's tour; the next download leaves it unchanged."""
    click(page, "[data-tour=save]")
    # The browser first reserves its name with an empty file.
    [file] = eventually(lambda: [file for file in FOLDER.glob("tours/*.json") if file.stat().st_size], "a tour is downloaded")
    return file.rename(FOLDER / f"{time.monotonic_ns()} {file.name}")


def toured(daemon, path, page):
    """Keyframes are added, dragged, timed, removed; a camera visits them; their file equals that of `gimbal tour`."""
    page.size(1400, 900)
    page.devtools("Emulation.setTouchEmulationEnabled", enabled=False)
    page.devtools("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(FOLDER / "tours"))
    shown = lambda: page.run("return document.querySelector('#tour').checkVisibility()")
    bars = lambda: page.run("return [...document.querySelectorAll('#tour li button')].map(({ariaLabel}) => ariaLabel)")
    chosen = lambda: page.run("return [...document.querySelectorAll('#tour li button')].findIndex(({ariaPressed}) => ariaPressed === 'true')")
    value = lambda name: page.run("return document.querySelector(`[data-tour=${arguments[0]}]`).value", name)
    pressed = lambda key, code, modifiers=0: page.devtools(
        "Input.dispatchKeyEvent", type="rawKeyDown", key=key, code=key, windowsVirtualKeyCode=code, modifiers=modifiers)

    def drag(start, end, *, touch=False):
        steps = [(start[0] + (end[0] - start[0]) * part / 8, start[1] + (end[1] - start[1]) * part / 8) for part in range(9)]
        for index, (x, y) in enumerate(steps):
            if touch:
                page.devtools("Input.dispatchTouchEvent", type="touchMove" if index else "touchStart", touchPoints=[{"x": x, "y": y}])
            else:
                page.devtools("Input.dispatchMouseEvent", type="mouseMoved" if index else "mousePressed", x=x, y=y, button="left",
                              buttons=1, clickCount=1)
        if touch:
            page.devtools("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        else:
            page.devtools("Input.dispatchMouseEvent", type="mouseReleased", x=end[0], y=end[1], button="left", clickCount=1)

    def place_of_edge(number):
        return page.run("""
            const box = document.querySelector(`#tour li:nth-child(${arguments[0]}) .edge`).getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2];""", number)

    def fill(name, text):
        page.run("""
            const part = document.querySelector(`[data-tour=${arguments[0]}]`);
            part.value = arguments[1];
            part.dispatchEvent(new Event("change"));""", name, text)

    check(not shown(), "who makes no tour sees nothing of one")
    click(page, "#open-tour")
    check(shown(), "a tour is opened")
    for latitude, longitude, bearing in [(46.5, 8.9, 0), (46.55, 9.1, 40), (46.4, 9.2, 80)]:
        daemon.ask(type="move", update={"kind": "set-camera", "position": {
            "target": {"latitude": latitude, "longitude": longitude}, "zoom": 11, "bearing": bearing, "viewingAngle": 20}})
        eventually(lambda: page.camera()["seq"] == daemon.camera()["seq"], "the page follows")
        click(page, "[data-tour=add]")
    check(bars() == ["Keyframe 1: flight", "Keyframe 2: smooth 2 s", "Keyframe 3: smooth 2 s"], f"keyframes are bars: {bars()}")
    check(chosen() == 2, "the newest is the chosen one")

    # By mouse: a mark on the map, which does not follow meanwhile, and an edge of a bar; both by keys, too.
    click(page, "[data-overview=out]")
    click(page, "#tour li:nth-child(2) button")
    before = mark(page)
    first = json.loads(saved(page).read_text())["keyframes"]
    check([round(each["position"]["target"]["longitude"], 6) for each in first] == [8.9, 9.1, 9.2], f"keyframes are in order: {first}")
    drag((before[0] + 4, before[1] - 4), (before[0] + 44, before[1] + 26))
    after = mark(page)
    check(math.dist(after, (before[0] + 40, before[1] + 30)) < 3, f"a mark is dragged from {before} to {after}")
    tour = json.loads(saved(page).read_text())["keyframes"]
    target, old = tour[1]["position"]["target"], first[1]["position"]["target"]
    check(target["longitude"] > old["longitude"] and target["latitude"] < old["latitude"], f"to {target} from {old}")
    check([tour[0], tour[2]] == [first[0], first[2]] and {**tour[1]["position"], "target": old} == first[1]["position"], "and no other")
    edge = place_of_edge(3)
    drag(edge, (edge[0] - 60, edge[1]))
    check(chosen() == 2 and 0 < float(value("time")) < 1900, f"a bar's edge is dragged: {value('time')}")
    page.run("document.querySelector('#tour li:nth-child(2) button').focus()")
    for _ in range(3):
        pressed("ArrowLeft", 37, modifiers=8)
    eventually(lambda: "smooth 1.7 s" in bars()[1], f"keys make it shorter: {bars()}")
    pressed("ArrowUp", 38)
    moved = mark(page)
    check(math.dist(moved, (after[0], after[1] - 10)) < 3, f"keys move a mark from {after} to {moved}")

    # It is played, and another client sees it.
    fill("time", "600")
    fill("wait", "200")
    click(page, "#tour li:nth-child(3) button")
    fill("time", "")
    check(float(value("time")) > 0, "only a flight may be without a time")
    fill("path", "straight")
    fill("time", "500")
    check(bars() == ["Keyframe 1: flight", "Keyframe 2: smooth 0.6 s, wait 0.2 s", "Keyframe 3: straight 0.5 s"], f"{bars()}")
    tour = json.loads(saved(page).read_text())["keyframes"]
    other = Daemon(path)
    check(other.ask(type="subscribe", camera="main")["type"] == "subscribed", "another client follows")
    told = page.text("#toast")
    click(page, "[data-tour=play]")
    seen = []
    while not seen or seen[-1]["type"] != "idle":
        seen.append(json.loads(other.lines.readline()))
    frames = [event["position"] for event in seen if event["type"] == "camera-changed"]
    check(any(same(frame, tour[1]["position"]) for frame in frames), "the camera goes through the keyframe that was dragged")
    check(same(frames[-1], tour[2]["position"]), f"and comes to the last one: {frames[-1]}")
    near = min(math.dist(frame["target"].values(), tour[0]["position"]["target"].values()) for frame in frames)
    check(near < 0.01, f"and is near the first one: {near}")
    eventually(lambda: page.camera()["seq"] == seen[-1]["seq"], "the page sees it")
    check(page.text("#toast") == told, f"and says that nothing is wrong: {page.text('#toast')}")
    click(page, "#tour li:nth-child(1) button")
    click(page, "[data-tour=go]")
    eventually(lambda: same(daemon.camera()["position"], tour[0]["position"]), "the camera goes to one keyframe")
    eventually(lambda: page.text("[data-tour=play]") == "Play", "which ends")
    fill("time", "60000")
    click(page, "[data-tour=play]")
    eventually(lambda: page.text("[data-tour=play]") == "Stop", "a tour can be stopped")
    click(page, "[data-tour=play]")
    check(daemon.rest()["type"] != "error", "and is")
    eventually(lambda: page.text("[data-tour=play]") == "Play", "and can be played again")
    fill("time", "")

    # Its file equals that of `gimbal tour`, byte for byte, and opens again.
    file = saved(page)
    written = subprocess.run([PROGRAMS / "gimbal", "tour", file, "--to", "json"], capture_output=True, text=True, check=True)
    check(written.stdout == file.read_text() and not written.stderr, f"`gimbal tour` reads {file.read_text()} as {written}")
    labels = bars()
    page.run("document.querySelector('#tour li:nth-child(2) button').focus()")
    for _ in range(3):
        pressed("Delete", 46)
    check(bars() == [] and page.run("return document.querySelector('[data-tour=play]').disabled"), f"keyframes are removed: {bars()}")
    click(page, "[data-tour=close]")
    check(not shown() and page.run("return document.activeElement.id") == "open-tour", "it is closed, and the focus goes back")
    bad = FOLDER / "bad.json"
    bad.write_text('{"type":"gimbal-tour","version":1,"keyframes":[{"position":{"target":{"latitude":"<b>","longitude":0},"zoom":3}}]}')
    page.find("#file").send_keys(str(bad))
    eventually(lambda: page.text("#toast") == "bad.json: invalid keyframe 1.", "a tour that is none is told")
    check(not shown(), "and not opened")
    page.find("#file").send_keys(str(file))
    eventually(lambda: shown() and bars() == labels, "a file is opened by the chooser")
    check(saved(page).read_text() == file.read_text(), "as it was downloaded")
    alps = ROOT / "Protocols/examples/tours/alps.json"
    data = {"items": [], "files": [str(alps)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        page.devtools("Input.dispatchDragEvent", type=kind, x=400, y=300, data=data)
    eventually(lambda: len(bars()) == 5, "or dropped")
    file = saved(page)
    check(file.name.endswith(" Three lakes.json") and file.read_text() == alps.read_text(), f"as it is: {file.read_text()}")

    # Touch targets are large enough, and present on all screens.
    for width, height in ((1400, 900), (820, 1180), (390, 844)):
        for dark in (False, True):
            page.size(width, height, dark, mobile=width < 1400)
            page.devtools("Emulation.setTouchEmulationEnabled", enabled=width < 1400, maxTouchPoints=5)
            found = page.run("""
                return [...document.querySelectorAll("#tour :is(button, select, input)")].map((part) => {
                    const {left, right, width, height} = part.getBoundingClientRect();
                    return {name: part.ariaLabel ?? part.dataset.tour, left, right, width, height, isBar: Boolean(part.closest("li"))};
                });""")
            lost = [each for each in found if not each["isBar"] and (each["left"] < 0 or each["right"] > width)]
            check(lost == [], f"in {width} x {height} all of a tour is within reach: {lost}")
            small = [each for each in found if min(each["width"], each["height"]) < (30 if width == 1400 else 44)]
            check(len(found) == 16 and small == [], f"in {width} x {height} it is large enough for fingers: {small}")
            if PICTURES:
                page.asynchronously("for (let i = 0; i < 30; i++) await new Promise(requestAnimationFrame);")
                page.browser.save_screenshot(f"{PICTURES}/tour-{width}-{'dark' if dark else 'light'}.png")
    page.run("""
        for (const part of ["#tour li:nth-child(4) button", "[data-overview=out]"]) document.querySelector(part).click();""")
    before = mark(page)
    drag(before, (before[0] - 25, before[1] + 10), touch=True)
    after = mark(page)
    check(math.dist(after, (before[0] - 25, before[1] + 10)) < 3, f"a finger drags a mark from {before} to {after}")
    edge = place_of_edge(4)
    drag(edge, (edge[0] + 30, edge[1]), touch=True)
    check(float(value("time")) > 2500, f"a finger drags an edge: {value('time')}")
    page.run("for (const part of ['[data-tour=close]', '[data-overview=fit]']) document.querySelector(part).click()")
    page.size(1280, 800)


def watching(daemon, link, page):
    """A watch-only link moves nothing."""
    watch = page.run("""
        document.querySelector("#open-share").click();
        return [...document.querySelectorAll("#share code")].map(({textContent}) => textContent).at(-1)""")
    check(page.run("return document.querySelectorAll('#share canvas').length") == 0, "there is no code for what no phone can open")
    check("gimbal web --listen 0.0.0.0 --insecure-lan" in page.text("#share .links"), "but the command with which it could")
    page.run("document.querySelector('#share').close()")
    watch = re.search(r"http\S+", watch)[0]
    check(watch != link, "the link to look only is another one")
    other = Page(watch)
    eventually(lambda: other.is_shown() and other.run("return document.body.dataset.role") == "watch", "a watching page follows")
    for part in ("commands", "tour"):
        check(other.run("return document.querySelector(arguments[0]).disabled", f"#open-{part}"), f"it is offered no {part}")
    before = daemon.camera()["seq"]
    other.touch("touchStart", (100, 300))
    other.touch("touchMove", (200, 500))
    other.touch("touchEnd")
    daemon.ask(type="move", camera="other", update={"kind": "zoom-to", "zoom": 4})
    eventually(lambda: other.camera("other"), "it goes on following")
    check(daemon.camera()["seq"] == before, "it moves nothing")
    daemon.ask(type="take-lease", camera="main", forMs=60_000)
    eventually(lambda: lock(other) == "foreign another client", "it shows a lock")
    check(not other.run("return document.querySelector('#lock button').checkVisibility()"), "and takes none")
    daemon.ask(type="end-lease", camera="main")
    other.check_is_clean("the watching page")
    other.close()
    daemon.ask(type="remove-camera", camera="other")


def secure():
    """With a certificate the server speaks only TLS, also on a socket passed by a service manager."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
         "subjectAltName=DNS:localhost", "-keyout", FOLDER / "key.pem", "-out", FOLDER / "chain.pem"],
        check=True, capture_output=True)
    # An unreadable certificate stays so after a restart: the unit does not retry.
    unit = (ROOT / "systemd/gimbal-web.service").read_text(encoding="utf-8")
    check("CONFIG" in re.search(r"^RestartPreventExitStatus=(.*)$", unit, re.MULTILINE)[1].split(), "the unit knows CONFIG")
    for chain in ("none.pem", "key.pem"):
        refused = subprocess.run(
            [PROGRAMS / "gimbal-web", "--tls-cert", FOLDER / chain, "--tls-key", FOLDER / "key.pem"],
            capture_output=True, text=True, timeout=PATIENCE, check=False)
        check(refused.returncode == os.EX_CONFIG and "certificate" in refused.stderr and not refused.stdout,
              f"a certificate that cannot be used is a matter of the options: {refused}")
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    # sd_listen_fds(3): descriptor 3, for the process that reads it.
    server = subprocess.Popen(
        ["bash", "-c", 'exec 3<&"$1"; shift; LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"', "bash", str(listener.fileno()),
         PROGRAMS / "gimbal-web", "--socket", FOLDER / "none.sock", "--host", "localhost",
         "--tls-cert", FOLDER / "chain.pem", "--tls-key", FOLDER / "key.pem"],
        stdout=subprocess.PIPE, text=True, pass_fds=[listener.fileno()])
    try:
        link = server.stdout.readline()
        check(link.startswith(f"https://localhost:{port}/#token="), f"the link is a secure one: {link!r}")
        context = ssl.create_default_context(cafile=FOLDER / "chain.pem")
        connection = http.client.HTTPSConnection("localhost", port, context=context, timeout=PATIENCE)
        connection.request("GET", "/")
        check(connection.getresponse().status == 200, "the page comes by TLS")
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as plain:
            plain.sendall(f"GET / HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode())
            check(b"200" not in plain.recv(1000), "and not without")
    finally:
        server.terminate()
        check(server.wait(PATIENCE) == 0, "SIGTERM is its end")
        listener.close()


# --- Appearance

SIZES = {"desktop": (1280, 800, False), "tablet": (820, 1180, True), "phone": (390, 844, True)}


def shapes(daemon, page):
    """The camera is the largest panel, whatever its shape and the window's; the events are within reach."""
    for viewport in ((390, 844), (1280, 720)):
        daemon.ask(type="set-viewport", width=viewport[0], height=viewport[1])
        eventually(lambda: page.camera()["viewport"]["width"] == viewport[0], "a shape is shown")
        for width, height in ((390, 844), (820, 1180), (1024, 768), (1366, 768), (1400, 900), (2560, 1300)):
            page.size(width, height)
            page.asynchronously("for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);")
            what = f"{viewport} in {width} x {height}"
            boxes = page.run("""
                return Object.fromEntries(["camera", "view", "overview", "events", "timeline", "copy", "clear"].map((id) => {
                    const box = document.getElementById(id).getBoundingClientRect();
                    return [id, {left: box.left, top: box.top, right: box.right, bottom: box.bottom, area: box.width * box.height}];
                }))""")
            others = max(boxes[panel]["area"] for panel in ("overview", "events", "timeline"))
            check(boxes["camera"]["area"] > others, f"the camera is the largest panel: {what}: {boxes}")
            for name in ("copy", "clear"):
                check(boxes[name]["right"] <= boxes["events"]["right"] and boxes[name]["bottom"] <= boxes["events"]["bottom"],
                      f"{name} is within reach: {what}: {boxes[name]}")
            hidden = page.run("""
                const player = document.querySelector("#player"), wasHidden = player.hidden;
                const panel = document.body.dataset.panel;
                [player.hidden, document.body.dataset.panel] = [false, "timeline"];
                const out = [...player.children].filter((part) => part.checkVisibility()).filter((part) => {
                    const box = part.getBoundingClientRect();
                    const corners = [[box.left + 2, box.top + 4], [box.right - 2, box.bottom - 4]];
                    return !corners.every(([x, y]) => document.elementFromPoint(x, y) === part);
                }).map((part) => part.dataset.player);
                [player.hidden, document.body.dataset.panel] = [wasHidden, panel];
                return out;""")
            check(hidden == [], f"all parts of the player can be clicked: {what}: {hidden}")
            screen, camera = boxes["view"], boxes["camera"]
            fills = max((screen["right"] - screen["left"]) / (camera["right"] - camera["left"]),
                        (screen["bottom"] - screen["top"]) / (camera["bottom"] - camera["top"]))
            check(fills > 0.8, f"the screen fills the panel: {what}: {fills}")
            covered, moved = page.run("""
                const toast = document.querySelector("#toast");
                // The log's rows end at its edge.
                const used = [...document.querySelectorAll(":is(button, select, input, canvas, #position, #log):not(#log *)")]
                    .filter((part) => part.checkVisibility({visibilityProperty: true}) && part.getBoundingClientRect().width > 1);
                const places = () => used.map((part) => part.getBoundingClientRect());
                const before = places();
                toast.hidden = false;
                toast.textContent = "something is told that is not short ".repeat(5);
                const box = toast.getBoundingClientRect(), after = places();
                toast.hidden = true;
                const named = (part) => part.id || part.textContent;
                return [
                    used.filter((_, index) => after[index].left < box.right && after[index].right > box.left
                        && after[index].top < box.bottom && after[index].bottom > box.top).map(named),
                    used.filter((_, index) => JSON.stringify(before[index]) !== JSON.stringify(after[index])).map(named),
                ];""")
            check(covered == [], f"what is told covers nothing: {what}: {covered}")
            check(moved == [], f"what is told moves nothing from under a finger: {what}: {moved}")
    daemon.ask(type="set-viewport", width=390, height=844)


def looks(daemon, page):
    daemon.ask(type="move", update={"kind": "set-camera", "position": {
        "target": {"latitude": 46.5, "longitude": 8.9}, "zoom": 6, "bearing": 330, "viewingAngle": 25}})
    for dark in (False, True):
        for name, (width, height, mobile) in SIZES.items():
            page.size(width, height, dark, mobile)
            page.asynchronously("for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);")
            shown = page.run("""
                const size = [document.documentElement.scrollWidth, document.documentElement.scrollHeight];
                const view = document.querySelector("#view");
                const box = view.getBoundingClientRect();
                const copy = document.createElement("canvas");
                [copy.width, copy.height] = [view.width, view.height];
                const context = copy.getContext("2d", {willReadFrequently: true});
                context.drawImage(view, 0, 0);
                const pixels = context.getImageData(0, 0, view.width, view.height).data;
                const colors = new Set();
                for (let i = 0; i < pixels.length; i += 4 * 97) colors.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
                return {size, view: [box.left, box.top, box.right, box.bottom], colors: colors.size};""")
            check(shown["size"][0] <= width and shown["size"][1] <= height, f"{name} fits: {shown['size']}")
            left, top, right, bottom = shown["view"]
            check(left >= 0 and top >= 0 and right <= width and bottom <= height and right - left > 100, f"{name}'s map: {shown}")
            check(shown["colors"] > 3, f"{name}'s map has something on it")
            if PICTURES:
                page.browser.save_screenshot(f"{PICTURES}/{name}-{'dark' if dark else 'light'}.png")
    page.size(1280, 800)
    unnamed = [
        node["role"]["value"] for node in page.devtools("Accessibility.getFullAXTree")["nodes"]
        if node.get("role", {}).get("value") in ("button", "textbox", "checkbox", "combobox", "searchbox", "slider", "tab",
                                                 "application", "spinbutton", "image")
        and not node.get("ignored") and not node.get("name", {}).get("value")]
    check(unnamed == [], f"every control has a name for a screen reader: {unnamed}")


def keyboard(page):
    """With keys alone every control can be reached, the focus is visible, and it is never trapped."""
    def press(key, code, modifiers=0):
        for kind in ("rawKeyDown", "keyUp"):
            page.devtools("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, modifiers=modifiers)

    page.devtools("Emulation.setFocusEmulationEnabled", enabled=True)
    page.run("document.activeElement.blur(); getSelection().removeAllRanges(); document.querySelector('.skip').focus()")
    # Forward and back: focus set by a script is shown only if keys were used last.
    press("Tab", 9)
    press("Tab", 9, modifiers=8)
    reached = []
    for _ in range(60):
        here = page.asynchronously("""
            const here = document.activeElement;
            if (!here || here === document.body) return null;
            // What slides into sight is given its time.
            await new Promise(requestAnimationFrame);
            await Promise.allSettled(here.getAnimations().map(({finished}) => finished));
            const seen = here.matches("input.hidden") ? here.parentElement : here;
            const style = getComputedStyle(seen), box = seen.getBoundingClientRect();
            return {
                name: here.id || here.className || here.dataset.overview || here.textContent || here.parentElement.textContent,
                isSeen: box.width > 0 && box.bottom > 0 && box.top < innerHeight && style.outlineStyle !== "none",
            };""")
        if here is None or here["name"] in [each["name"] for each in reached]:
            break
        reached.append(here)
        press("Tab", 9)
    names = {each["name"] for each in reached}
    wanted = {"skip", "main", "file", "open-commands", "open-surface", "open-share", "view", "Lock", "in", "out", "fit", "open-tour", "grid",
              "of", "search", "stop", "copy", "clear", "log", "moves", "errors"}
    check(wanted <= names, f"keys do not get to {wanted - names}")
    check(all(each["isSeen"] for each in reached), f"it is not seen where one is: {[each for each in reached if not each['isSeen']]}")
    focused = lambda: page.run("return document.activeElement.id || document.activeElement.name")
    page.run("document.querySelector('#open-commands').focus()")
    page.devtools("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")
    page.devtools("Input.dispatchKeyEvent", type="keyUp", key="Enter", code="Enter", windowsVirtualKeyCode=13)
    eventually(lambda: focused() == "latitude", "Enter opens the commands, and goes to their first field")
    press("Escape", 27)
    eventually(lambda: focused() == "open-commands", "Escape closes them, and goes back")
    page.run("document.querySelector('#tabs [aria-selected=true]').focus()")
    selected = lambda: page.run("const tab = document.querySelector('#tabs [aria-selected=true]');"
                                "return [tab.textContent, tab === document.activeElement]")
    press("ArrowLeft", 37)
    eventually(lambda: selected() == ["fox", True], "arrows choose a camera")
    press("ArrowRight", 39)
    eventually(lambda: selected() == ["main", True], "and another one")
    page.devtools("Emulation.setFocusEmulationEnabled", enabled=False)


def clocks(page):
    """A clock that is not synchronized is told, also at rest, and a screen's own that is off; an unknown one is not."""
    seen = page.asynchronously("""
        const {Step} = await import("/step.js");
        const [root, ...parts] = ["div", "ul", "ul", "p"].map((part) => document.createElement(part)), seen = [];
        root.append(...parts);
        const step = new Step(root, {bad: "red", ink: "black"});
        const {now} = Date, [wallTime, time] = [now(), performance.now()];
        performance.now = () => time;
        const tell = (clock, off = 0, delay = 0) => {
            Date.now = () => wallTime + off;
            step.setClock({wallTime: wallTime - delay, clock});
            const goesOn = step.paint([{name: "wall"}], 1000);
            seen.push([root.hidden, goesOn, root.textContent, root.querySelector("[data-state=bad]") !== null]);
        };
        const all = [undefined, {synchronized: false}, {synchronized: true, errorMs: 2}];
        for (const clock of all) tell(clock);
        // What was due before the page began is part of the camera's state, and not late.
        step.beginning = 995;
        for (const presentAt of [990, 1040]) step.add("wall", {presentAt}, 1000);
        for (const clock of all) tell(clock);
        for (const off of [-900, -18, -17, 1000, 1001]) {
            tell({synchronized: true, errorMs: 0.04}, off);
            seen.at(-1).push(step.isOff);
        }
        for (const off of [1000, 1001]) {
            tell({synchronized: true, errorMs: 2000}, off);
            seen.at(-1).push(step.isOff);
        }
        tell(undefined, 0, 60);
        Date.now = now;
        delete performance.now;
        return seen;""")
    is_wrong, is_right = "The server's clock is not synchronized.", "The server's clock is within 40 µs."
    is_off = "wallnot in stepThis screen's clock is"
    for index, wanted in enumerate([
            [True, False, "", False], [False, False, is_wrong, True], [True, False, ANY, ANY],
            [False, True, "wallin step, 40 ms ahead", False],
            [False, True, f"wall40 ms ahead, clock not synchronized{is_wrong}", True],
            [False, True, "wallin step, 40 ms aheadThe server's clock is within 2.0 ms.", False],
            [False, True, f"{is_off} at least 900 ms behind the server's.", True, True],
            [False, True, f"{is_off} at least 18 ms behind the server's.", True, True],
            [False, True, f"wallin step, 40 ms ahead{is_right}", False, False],
            [False, True, f"wallin step, 40 ms ahead{is_right}", False, False],
            [False, True, f"{is_off} up to 1001 ms ahead of the server's.", True, True],
            [False, True, "wallin step, 40 ms aheadThe server's clock is within 2000 ms.", False, False],
            [False, True, f"{is_off} up to 1001 ms ahead of the server's.", True, True],
            [False, True, "wallin step, 40 ms ahead", False]]):
        check(seen[index] == wanted, f"a clock is told as what it is: {seen[index]}, not {wanted}")


def other_screens(page):
    """The screens of other machines are listed with what is known of them, wrong ones first, and only so many."""
    rows = page.asynchronously("""
        const {Step} = await import("/step.js");
        const [root, ...parts] = ["div", "ul", "ul", "p"].map((part) => document.createElement(part)), seen = [];
        root.append(...parts);
        const step = new Step(root, {bad: "red", ink: "black"});
        const screen = (members) => ({node: "<b>", camera: "main", late: 0, ...members});
        const good = {synchronized: true, errorMs: 0.04};
        const tell = (...screens) => {
            step.setScreens(screens.map(screen));
            step.paint([], 1000);
            seen.push([root.hidden, ...[...parts[1].children].map((row) =>
                [row.textContent, row.querySelector("output").dataset.state])]);
        };
        tell({leadMs: 83.4, ...good}, good, {leadMs: 80}, {leadMs: -31.5, late: 3, ...good},
            {leadMs: 80, synchronized: false}, {silentMs: 31200, leadMs: 80, ...good});
        tell(...Array(20).fill(good), {leadMs: -1, late: 1});
        step.setClock({wallTime: Date.now(), clock: {synchronized: false}});
        tell(good);
        step.setClock({wallTime: Date.now()});
        tell();
        return seen;""")
    at_rest = "<b>/mainin step, at rest, clock within 40 µs"
    for index, wanted in enumerate([
            [False, ["<b>/main3 late, by up to 32 ms", "bad"], ["<b>/main80 ms ahead, clock not synchronized", "bad"],
             ["<b>/mainsilent for 31 s", "bad"], ["<b>/mainin step, 83 ms ahead, clock within 40 µs", "good"],
             [at_rest, "good"], ["<b>/main80 ms ahead, clock unknown", "good"]],
            [False, ["<b>/main1 late, by up to 1.0 ms", "bad"], *[[at_rest, "good"]] * 7, ["13 more", "good"]],
            [False, ["<b>/mainat rest, clock not synchronized", "bad"]],
            [True]]):
        check(rows[index] == wanted, f"screens of other machines are told as they are: {rows[index]}, not {wanted}")


# Runs `trial` with a connection whose server is the trial: it answers the posts and ends the streams. `limits` are the
# timers of lines that are not answered. The page's own connection goes on beside it.
TRIAL = """
    const {Connection} = await import("/connection.js");
    const [fetchReally, setReally] = [fetch, setTimeout];
    const until = async (what) => { while (!what()) await new Promise((resume) => setReally(resume, 5)); };
    const streams = [], posts = [], limits = [], told = [], lost = [];
    let isRefused = false;
    window.setTimeout = (run, after, ...values) => after === 10_000 ? limits.push(run) : setReally(run, after, ...values);
    window.fetch = async (path, options) => {
        if (options?.headers?.Authorization !== "Bearer trial") return fetchReally(path, options);
        if (isRefused) return new Response("over", {status: 401});
        const {signal, body, headers} = options;
        if (path === "/stream") {
            return new Response(new ReadableStream({start(control) {
                streams.push(control);
                control.enqueue(new TextEncoder().encode(`{"type":"page","page":"${streams.length}","role":"feed"}\\n`));
                signal.addEventListener("abort", () => { try { control.error(signal.reason); } catch { /* It has ended. */ } });
            }}));
        }
        return new Promise((resume, fail) => {
            signal.addEventListener("abort", () => fail(signal.reason));
            posts.push({
                page: headers["Gimbal-Page"], lines: body.trim().split("\\n").map((line) => JSON.parse(line).n), signal,
                answer: (status) => resume(new Response(status === 204 ? null : "no", {status})),
            });
        });
    };
    const connection = new Connection("trial", () => {}, (state, text) => told.push(text), (requests) => lost.push(requests));
    const isOver = connection.run();
    const post = async (number) => { await until(() => posts.length >= number); return posts[number - 1]; };
    const page = (number) => until(() => connection.page?.page === String(number));
    const result = await trial().finally(() => Object.assign(window, {setTimeout: setReally}));
    isRefused = true;
    connection.stop(new Error("the trial is over"));
    await isOver;
    window.fetch = fetchReally;
    return result;"""


def outages(page):
    """Lines of before an outage are not sent after it, whether the stream ends, lines hang or too many of them wait."""
    seen = page.asynchronously("""
        const trial = async () => {
            await page(1);
            connection.send({n: 1});
            await post(1);
            const asked = connection.ask({n: 2});
            limits.at(-1)();
            const {code} = await asked;
            await page(2);
            connection.send({n: 3});
            await post(2);
            connection.send({n: 4});
            streams.at(-1).close();
            await page(3);
            connection.send({n: 5});
            await post(3);
            for (let n = 0; n < 5000; n++) connection.send({n});
            await page(4);
            connection.send({n: 6});
            (await post(4)).answer(204);
            await until(() => !connection.isSending);
            return {
                code, told: [...told], waiting: connection.waiting.length,
                posts: posts.map(({page, lines, signal}) => [page, lines, signal.aborted]),
            };
        };""" + TRIAL)
    check(seen == {
        "code": "unavailable", "waiting": 0,
        "told": ["feed", "the server does not answer", "feed", "the server ended the stream", "feed",
                 "the server does not keep up", "feed"],
        "posts": [["1", [1], True], ["2", [3], True], ["3", [5], True], ["4", [6], False]],
    }, f"what was sent before an outage does not arrive after it: {seen}")


def refusals(page):
    """A question that is lost gets an error, and what is lost is told while the daemon may still have the page's fingers."""
    seen = page.asynchronously("""
        const trial = async () => {
            await page(1);
            const codes = [];
            for (const [index, status] of [503, 429, 502].entries()) {
                const asked = connection.ask({n: status});
                connection.send({n: -status});
                (await post(2 * index + 1)).answer(status);
                codes.push((await asked).code);
                (await post(2 * index + 2)).answer(204);
                await until(() => !connection.isSending);
            }
            // More wait than are sent at once; the last 64 are still sent.
            connection.send({n: 0});
            await post(7);
            const asked = connection.ask({n: 1});
            for (let n = 2; n <= 600; n++) connection.send({n});
            posts[6].answer(503);
            codes.push((await asked).code);
            (await post(8)).answer(204);
            await until(() => !connection.isSending);
            return {
                codes, pending: connection.answers.size, lost: lost.map((requests) => requests.map(({n}) => n)),
                posts: posts.map(({lines}) => lines),
            };
        };""" + TRIAL)
    check(seen == {
        "codes": ["unavailable"] * 4, "pending": 0, "lost": [[503], [429], list(range(537))],
        "posts": [[503], [-503], [429], [-429], [502], [-502], [0], list(range(537, 601))],
    }, f"refused lines are told as lost: {seen}")


def lifted(daemon, path, page):
    """Fingers and gestures whose end is refused are cancelled."""
    follower = Daemon(path)
    follower.ask(type="subscribe", events=["touch", "gesture"])
    # Refuses the first post that has a text, and the next one as well.
    refuse = lambda text: page.run("""
        const real = fetch, [text] = arguments;
        let left = 2;
        window.fetch = (path, options) => {
            if (path !== "/lines" || left === 2 && !options.body.includes(text)) return real(path, options);
            left -= 1;
            if (left === 0) window.fetch = real;
            return Promise.resolve(new Response("not now", {status: 503}));
        };""", text)

    def end(kind, is_end):
        """Returns the next line of a kind, of fingers or a gesture, that is an end."""
        while True:
            line = json.loads(follower.lines.readline())
            parts = line["line"] if isinstance(line.get("line"), list) else [line.get("line", line)]
            for part in parts:
                if part["type"] == kind and is_end(part):
                    return part

    refuse('"touches":[]')
    page.touch("touchStart", (100, 300))
    page.touch("touchMove", (140, 330))
    page.touch("touchEnd")
    gone = end("touch", lambda part: not part["touches"])
    check(gone.get("cancelled"), f"a finger whose lift is lost is cancelled: {gone}")
    refuse('"phase":"ended"')
    page.mouse("mousePressed", 150, 150, button="left", clickCount=1, modifiers=2)
    page.mouse("mouseMoved", 180, 120, button="left", buttons=1, modifiers=2)
    page.mouse("mouseReleased", 180, 120, button="left", modifiers=2)
    gone = [end(kind, lambda part: part.get("phase") in ("ended", "cancelled")) for kind in ("rotate", "tilt")]
    check([part["phase"] for part in gone] == ["cancelled"] * 2, f"so is a drag with Ctrl: {gone}")
    daemon.rest()


def changed(daemon, path, page):
    """A drag ends at its own camera when another one is chosen, and does not go on there."""
    daemon.camera("fox")
    eventually(lambda: page.camera("fox"), "the page has another camera")
    choose = lambda name: page.run("[...document.querySelectorAll('#tabs button')].find((tab) => tab.textContent === arguments[0]).click()", name)
    followers = {}
    for name in ("main", "fox"):
        followers[name] = Daemon(path)
        followers[name].ask(type="subscribe", camera=name, events=["touch"])
    page.touch("touchStart", (100, 300))
    down = json.loads(followers["main"].lines.readline())
    check(len(down["touches"]) == 1, f"a finger is down: {down}")
    choose("fox")
    gone = json.loads(followers["main"].lines.readline())
    check(gone["touches"] == [] and gone.get("cancelled"), f"the finger is lost where it was: {gone}")
    page.touch("touchMove", (140, 330))
    page.touch("touchEnd")
    page.touch("touchStart", (50, 500))
    down = json.loads(followers["fox"].lines.readline())
    check([round(touch["x"]) for touch in down["touches"]] == [50], f"only the next finger lands on the other camera: {down}")
    page.touch("touchEnd")
    choose("main")


def intervals(page):
    """A frame is seen one interval of the screen's frames after it begins, even if most frames are left out."""
    seen = page.asynchronously("""
        const {wallTimeOf} = await import("/present.js");
        let time = performance.now();
        return [120, 60, 30].map((rate) => {
            for (let i = 0; i < 200; i++) wallTimeOf(time += (i % 3 ? 4 : 1) * 1000 / rate);
            const ahead = Array.from({length: 21}, () => wallTimeOf(time) - time - (Date.now() - performance.now()));
            return ahead.sort((a, b) => a - b)[10];
        });""")
    for rate, ahead in zip([120, 60, 30], seen):
        check(abs(ahead - 1000 / rate) < 2, f"of {rate} frames a second each is seen {ahead} ms after it begins")


def check_log(page):
    """Checks that the log's memory is limited without frames, and that fingers end with their daemon."""
    seen = page.asynchronously("""
        const {Log} = await import("/log.js");
        const log = new Log(document.createElement("ol"));
        const touch = {type: "touch", camera: "main", number: 1, touches: [{id: 1, x: 1, y: 1}]};
        log.add(touch);
        log.add({type: "daemon", connected: false});
        const held = log.hands.size;
        for (let count = 0; count < 30_000; count++) log.add({type: "removed", camera: "main", timeMs: count});
        return [held, log.count];""")
    check(seen[0] == 0, "fingers end with their daemon")
    check(seen[1] <= 10_001, f"the log keeps no more than twice what it shows, even where no frames are drawn: {seen[1]}")


def check_sharpness(page):
    """Checks that all is drawn anew for a screen of another sharpness."""
    page.devtools("Emulation.setDeviceMetricsOverride", width=1280, height=800, deviceScaleFactor=2, mobile=False)
    corner = "return [...document.querySelector('#around').getContext('2d').getImageData(2, 2, 1, 1).data]"
    width = page.run("return document.querySelector('#around').clientWidth")
    eventually(lambda: page.run("return document.querySelector('#around').width") == width, "a sharper screen gets more pixels")
    check(page.run(corner) != [0, 0, 0, 255], "which are painted")
    page.size(1280, 800)


def check_strip(page):
    """Checks what the strip says about screens that receive positions ahead."""
    # Row and note of the same moment; the machine's clock may be either.
    parts = """return ["li", "p"].map((part) => document.querySelector(`#step ${part}`)?.textContent)"""
    strip = eventually(lambda: page.run(parts)[0] and page.run(parts), "a strip tells how well screens keep in step")
    is_wrong = strip and "not synchronized" in strip[1]
    wanted = "wall[0-9]+ ms ahead, clock not synchronized" if is_wrong else "wallin step, [0-9]+ ms ahead"
    check(strip and re.fullmatch(wanted, strip[0]), f"which names the camera: {strip!r}")
    check(page.run("const strip = document.querySelector('#step'); return strip.scrollWidth <= strip.clientWidth"), "the strip holds it")


def in_step(daemon, path, pages):
    """Windows that receive positions ahead draw each frame for its display time; returns how far they were apart."""
    mirror = Daemon(path)
    daemon.ask(type="move", camera="wall", update={"kind": "zoom-to", "zoom": 3})
    for page in pages:
        eventually(lambda: page.camera("wall"), "a page has the mirror's camera")
        page.run(RECORD + 'window.look = () => gimbal.camera("wall")?.position.target.longitude ?? null;')
    counts, wrong, differences = [0, 0], [[], []], []
    # A busy machine draws few frames.
    for _ in range(8):
        start = tell_ahead(mirror.send, "wall")
        check_strip(pages[0])
        eventually(lambda: time.time() * 1000 > start + COUNT * STEP, "the movement is over")
        for index, page in enumerate(pages):
            eventually(lambda: page.camera("wall")["position"]["target"]["longitude"] == LAST, "a page comes to where the last position is")
            count, others = wrong_frames(page.run("return shown"), start, 0)
            counts[index] += count
            wrong[index] += others
        differences += apart(*(page.run("return shown") for page in pages), start)
        if min(*counts, len(differences)) > 20:
            break
    for count, others in zip(counts, wrong):
        check(count > 20 and len(others) <= count // 50, f"each frame is drawn for its time: {len(others)} of {count} are not: {others[:5]}")
    differences.sort()
    within = sum(difference <= 1000 / 60 for difference in differences)
    text = f"two windows at most a frame apart in {within} of {len(differences)} pairs of frames"
    check(len(differences) > 20 and len(differences) - within <= len(differences) // 50, f"{text}: {differences[-5:]}")
    late = round(time.time() * 1000) - 500
    mirror.send(type="present", camera="wall", presentAt=late, position={"target": {"latitude": 10, "longitude": 5}, "zoom": 3})
    eventually(lambda: "1 late, by up to" in pages[0].text("#step"), "what came late is told")
    if PICTURES:
        Path(f"{PICTURES}/step.png").write_bytes(pages[0].browser.get_screenshot_as_png())
    eventually(lambda: all(page.camera("wall")["position"]["target"]["longitude"] == 5 for page in pages), "and shown at once")
    daemon.ask(type="remove-camera", camera="wall")
    return f"{text}, 98 of 100 within {differences[len(differences) * 98 // 100]:.1f} ms" if differences else text


def latency(a, b):
    """Returns the milliseconds from a touch on one page to another page's frame with it, over several touches."""
    b.run("""
        window.frames = [];
        let seq = gimbal.camera("main").seq;
        const look = () => {
            const now = gimbal.camera("main").seq;
            if (now !== seq) frames.push(performance.timeOrigin + performance.now());
            seq = now;
            if (frames.length < 500) requestAnimationFrame(look);
        };
        requestAnimationFrame(look);""")
    a.run("""
        window.touches = [];
        document.querySelector("#view").addEventListener("pointermove", () =>
            touches.push(performance.timeOrigin + performance.now()), true);""")
    a.touch("touchStart", (100, 300))
    for i in range(45):
        a.touch("touchMove", (100 + 3 * i, 300 + 2 * i))
        time.sleep(0.04)
    a.touch("touchEnd")
    touches, frames = a.run("return touches"), b.run("return frames")
    times = [min((frame - touch for frame in frames if frame >= touch), default=None) for touch in touches]
    times = sorted(value for value in times if value is not None)
    check(len(times) > 30, f"touches were followed: {len(times)}")
    return statistics.median(times), times[int(len(times) * 0.95)]


def main():
    # A hanging browser is reported, and ends the test.
    faulthandler.dump_traceback_later(15 * PATIENCE, exit=True)
    path = FOLDER / "gimbal.sock"
    environment = {**os.environ, "GIMBAL_SOCKET": str(path)}
    log = open(FOLDER / "log", "w", encoding="utf-8")
    server = subprocess.Popen([PROGRAMS / "gimbal", "web", "--no-open", "--tokens", FOLDER / "tokens"], env=environment,
                              stdout=subprocess.PIPE, stderr=log, text=True)
    pages = []
    pool = ThreadPoolExecutor(1)
    try:
        link = server.stdout.readline().strip()
        check(re.fullmatch(r"http://127\.0\.0\.1:\d+/#token=[\w-]+", link), f"the link is the one line: {link!r}")
        a, b = Page(link), Page(link)
        pages = [a, b]
        # A new daemon has no camera; a page that may feed creates one.
        for page in pages:
            if not eventually(page.is_shown, "a page shows a camera of a new daemon"):
                page.explain()
        daemon = Daemon(path)
        # It has its own camera, and starting it takes most of its time.
        fox = pool.submit(firefox, link, path)
        pinch_and_tilt(daemon, a, b)
        folded(daemon, a)
        mouse_and_keys(daemon, a)
        places(daemon, b)
        controls(daemon, a)
        times = latency(a, b)
        clocks(a)
        other_screens(a)
        step = in_step(daemon, path, pages)
        intervals(a)
        outages(a)
        refusals(a)
        lifted(daemon, path, a)
        for page, name in [(a, "page A"), (b, "page B")]:
            page.check_is_clean(name)
        copied(daemon, a)
        grid(b)
        earth(b)
        overview(b)
        recording(daemon, a, PROGRAMS)
        sample(daemon, a)
        dropped(daemon, a)
        locked(path, a, b)
        check_log(a)
        check_sharpness(a)
        toured(daemon, path, a)
        # A tab that DevTools has frozen draws no more frames here.
        hidden(daemon, path, b)
        frozen(daemon, b)
        closed(link, path, b)
        surface(daemon, path, link, a)
        watching(daemon, link, a)
        secure()
        shapes(daemon, a)
        looks(daemon, a)
        # Keys choose its camera.
        fox.result()
        changed(daemon, path, a)
        keyboard(a)
        shifts = b.run("return shifts")
        check(sum(shift["value"] for shift in shifts) < 0.05, f"nothing jumps: {shifts}")
        a.check_is_clean("page A")
        b.check_is_clean("page B")
        # A page without a token says so.
        stranger = Page(link.partition("#")[0])
        pages.append(stranger)
        eventually(lambda: "token" in stranger.text("#refused"), "a page without a token says so")
        seen = stranger.run("return [...document.body.children].filter((part) => part.checkVisibility()).map(({id}) => id)")
        check(seen == ["refused"], f"and shows nothing else: {seen}")
        server.send_signal(signal.SIGTERM)
        status = server.wait(PATIENCE)
        check(status == -signal.SIGTERM or status == 128 + signal.SIGTERM, f"SIGTERM ends it: {status}")
        check(server.stdout.read() == "", "the link is the only line")
        eventually(lambda: b.text("#connection") == "reconnecting", "a page notices that the server has gone")
        check(not path.exists(), "the daemon that it had started has ended, too")
    finally:
        for page in pages:
            try:
                page.close()
            except Exception:  # pylint: disable=broad-except
                pass  # It has gone already.
        if server.poll() is None:
            server.terminate()
            server.wait()
    if failures:
        print((FOLDER / "log").read_text(encoding="utf-8"), end="")
        print(f"page: {len(failures)} of {checks} checks failed")
        sys.exit(1)
    print(f"page: {checks} checks passed; from a touch to the other page's frame: {times[0]:.1f} ms p50, {times[1]:.1f} ms p95; {step}")


if __name__ == "__main__":
    main()
