#!/usr/bin/env python3
"""The adapters of Protocols/examples/adapters in Debian's chromium, compared with the camera cases and leading a
camera.

   adapters.py ENGINES GIMBALD [GIMBAL_WEB]

ENGINES is a folder with maplibre-gl.js and deck.js; GIMBALD is the daemon. Without GIMBAL_WEB a few lines here replace
it. Prints failures and the worst errors.
"""

import contextlib
import http.client
import http.server
import json
import math
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.chrome.service import Service

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
from step import LAST, RECORD, tell_ahead, wrong_frames  # pylint: disable=wrong-import-position
ROOT = HERE.parents[3]
CASES = ROOT / "Tests/Core/MapCameraTests/Cases"
ENGINES, GIMBALD, *GIMBAL_WEB = (Path(argument).resolve() for argument in sys.argv[1:])

PICTURES = os.environ.get("PAGE_PICTURES")

# The installed engines; Google's is a stand-in.
ENGINE_FILES = {"maplibre": "maplibre-gl.js", "deck": "deck.js"}
MISSING = {name for name, file in ENGINE_FILES.items() if not (ENGINES / file).exists()}

PAGE = """<!doctype html>
<meta charset="utf-8">
<title>adapters</title>
<link rel="stylesheet" href="/leaflet/leaflet.css">
<style>body { margin: 0 }</style>
ENGINES
<script src="/leaflet/leaflet.js"></script>
<script type="module">
import * as checks from "/tests/checks.js";
import * as leading from "/tests/leading.js";
Object.assign(window, { checks, leading });
</script>""".replace("ENGINES\n", "".join(
    f'<script src="/engines/{file}"></script>\n' for name, file in ENGINE_FILES.items() if name not in MISSING))

FOLDERS = {
    "adapters": ROOT / "Protocols/examples/adapters", "tests": HERE, "engines": ENGINES,
    "leaflet": Path("/usr/share/javascript/leaflet"),
}
README = (FOLDERS["adapters"] / "README.md").read_text()
TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}


class Server(http.server.ThreadingHTTPServer):
    """Serves the page's files, and gimbal-web or its stand-in below /gimbal, as a web server would."""

    daemon_threads = True

    def __init__(self, gimbal, link=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.gimbal = gimbal
        self.web, self.token = link.split("/#token=") if link else (None, "a-link-that-feeds")
        self.pages = {}
        # Files that pages of all origins may read: text by path.
        self.public = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.origin = f"http://127.0.0.1:{self.server_port}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", kind="text/plain", more=None):
        self.send_response(status)
        for name, value in (more or {}).items():
            self.send_header(name, value)
        # Browsers keep compiled code only of files that they may cache.
        self.send_header("Cache-Control", "max-age=600" if self.path.startswith("/engines/") else "no-store")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def forward(self, path, body=None):
        """Forwards the request to gimbal-web with its own name, and streams the response."""
        host = self.server.web.removeprefix("http://")
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "origin")}
        connection = http.client.HTTPConnection(host)
        connection.request(self.command, path, body, {**headers, "Host": host, "Origin": self.server.web})
        response = connection.getresponse()
        self.send_response(response.status)
        self.send_header("Content-Type", response.headers["Content-Type"] or "text/plain")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            while data := response.read1(65536):
                self.wfile.write(data)
        except (OSError, http.client.HTTPException):
            pass  # One of the two has gone.
        connection.close()

    def is_allowed(self):
        if self.headers["Authorization"] == f"Bearer {self.server.token}":
            return True
        self.answer(401, b"a token is needed")
        return False

    def stream(self):
        """A page's connection to the daemon; everything received goes to the page, including answers."""
        page = f"page-{len(self.server.pages)}"
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.server.gimbal))
            connection.sendall(b'{"type":"subscribe","camera":"*","delivery":"latest"}\n')
            self.server.pages[page] = connection
            self.send_response(200)
            self.send_header("Content-Type", "application/x-ndjson")
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            try:
                self.wfile.write(b'{"type":"page","page":"%s","role":"feed"}\n' % page.encode())
                while data := connection.recv(65536):
                    self.wfile.write(data)
            except OSError:
                pass  # The page has gone.

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path != "/gimbal/lines":
            return self.answer(404)
        if self.server.web:
            return self.forward("/lines", body)
        if self.is_allowed():
            self.server.pages[self.headers["Gimbal-Page"]].sendall(body)
            self.send_response(204)
            self.end_headers()

    def do_GET(self):
        path = self.path.partition("?")[0]
        if path in self.server.public:
            return self.answer(200, self.server.public[path].encode(), "application/json", {"Access-Control-Allow-Origin": "*"})
        if path == "/":
            # Engines are large: a page that needs none loads faster without them.
            page = re.sub('<script src="/engines.*\n', "", PAGE) if self.path == "/?small" else PAGE
            return self.answer(200, page.encode(), "text/html")
        if path == "/favicon.ico":
            return self.answer(200, b"", "image/x-icon")
        if path in ("/stream", "/gimbal/stream"):
            return self.forward("/stream") if self.server.web else self.is_allowed() and self.stream()
        folder, _, name = path[1:].partition("/")
        # A user has put MapLibre's files beside the modules.
        if folder == "adapters" and name.startswith("maplibre-gl."):
            folder = "engines"
        file = (FOLDERS[folder] / name).resolve() if folder in FOLDERS else None
        if not file or FOLDERS[folder].resolve() not in file.parents or not file.is_file():
            return self.answer(404)
        self.answer(200, file.read_bytes(), TYPES.get(file.suffix, "application/octet-stream"))


def chromium():
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    # Chromium's sandbox does not start as root, as in continuous integration. WebGL is rendered in software.
    for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--enable-unsafe-swiftshader",
                     "--use-gl=angle", "--use-angle=swiftshader", "--window-size=1000,900"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


class Page:
    def __init__(self, browser, origin):
        self.browser = browser
        browser.set_script_timeout(60)
        browser.get(origin)
        self.run("while (!window.leading) await new Promise(requestAnimationFrame)")

    def run(self, body, *arguments):
        """Returns the result of an async function with this body in the page."""
        result = self.browser.execute_async_script(
            "const given = [...arguments], done = given.pop();"
            f"(async (...values) => {{ {body} }})(...given)"
            ".then((value) => done({ value }), (error) => done({ error: String(error.stack ?? error) }));", *arguments)
        if "error" in result:
            raise RuntimeError(f"{body}\n{result['error']}")
        return result["value"]


FAILURES = []


def expect(condition, text):
    if not condition:
        FAILURES.append(text)
        print(f"adapters: FAILED: {text}", flush=True)


def cases():
    """Returns the cases with which the camera itself is compared, and new ones."""
    known = (CASES / "camera-cases.ndjson").read_text().splitlines()
    # Debian's Python has mpmath.
    made = subprocess.run([sys.executable, CASES / "camera-cases.py", "make", "1000", "11"], capture_output=True,
                          text=True, check=True).stdout.splitlines()
    return [json.loads(line) for line in known + made]


def check_cases(page, tests):
    page.run("window.cases = values[0]", tests)
    for name, engine, call, limit, least, *options in [
            ("projection.js", None, "projection", 1e-6, 1400), ("MapLibre", "maplibre", "mapLibreCases", 1e-4, 1400),
            ("MapLibre of another size", "maplibre", "mapLibreScaled", 1e-4, 1400),
            ("deck.gl", "deck", "deckCases", 1e-4, 1400), ("Leaflet", None, "leafletCases", 0.7072, 70),
            # They are drawn at whole pixels.
            ("Leaflet's markers", None, "leafletCases", 1.4143, 70, True),
            ("Google's flat numbers", None, "googleCases", 1e-4, 600)]:
        if engine in MISSING:
            continue
        result = page.run(f"return await checks.{call}(cases, ...values)", *options)
        print(f"{name}: {result['claims']} cases, worst {result['project']:.2g} px, back {result['unproject']:.2g} px",
              flush=True)
        expect(result["claims"] >= least, f"{name}: only {result['claims']} cases were tried")
        for kind in ("project", "unproject"):
            expect(result[kind] is not None and result[kind] <= limit,
                   f"{name}: {kind} is {result[kind]} px off, in {result['cases'].get(kind)}")
        # README.md gives it to a digit or two; other processors' sines may differ in the last ones.
        said = re.search(rf"^\| `?{re.escape(name)}.*? \| ([0-9.e-]+)", README, re.MULTILINE)
        expect(not said or float(said[1]) / 3 < result["project"] < 3 * float(said[1]),
               f"README.md says {said and said[1]} px of {name}, and it is {result['project']}")
        yield name, result


def table(title):
    """Returns the columns of the README.md table whose first column has that title, and the row below."""
    lines = README.splitlines()
    row = next(number for number, line in enumerate(lines) if line.startswith(f"| {title} |"))
    return [[cell.strip() for cell in lines[number].strip("|").split("|")][1:] for number in (row, row + 2)]


def check_numbers(page):
    """Compares the numbers of engines that are not installed with independent computations."""
    apart = page.run("return checks.googleRoundTrip(cases)")
    expect(apart < 0.01, f"Google's numbers, read back, are {apart} px off")
    tilted = page.run("return checks.googleTilted()")
    expect(tilted["0"] < 1e-6, f"Google's flat maps are off by {tilted['0']} px")
    earth = page.run("return checks.roundEarth(cases)")
    expect(earth["claims"] > 1100, f"only {earth['claims']} cases are over the ellipsoid")
    expect(earth["target"] < 1e-6, f"Cesium's target is {earth['target']} px off")
    expect(earth["eyes"] < 1e-3, f"ViewSync's eye is {earth['eyes']} px from Cesium's")
    expect(earth["range"] < 1e-6, f"a range, read back, is {earth['range']} off")

    # README.md's figures for both: the error is at most as large, and not much smaller.
    worst = {}
    for zoom, apart in [*earth["flat"].items(), *earth["tilted"].items()]:
        zoom = str(min(int(zoom), 12))
        worst[zoom] = max(apart, worst.get(zoom, 0))
    for title, found in [("Viewing angle", tilted), ("Zoom", worst)]:
        columns, pixels = table(title)
        for column, text in zip(columns, pixels):
            apart, said = found[re.match("[0-9]+", column)[0]], float(text)
            expect(0.6 * said < apart <= said + 0.5, f"README.md says {said} px at {title} {column}, and it is {apart}")

    [[target, heading, pitch, scope, angle], *_], drawn = page.run("return leading.cesiumShown(values[0])", {
        "position": {"target": {"latitude": 60, "longitude": -90}, "zoom": 14, "bearing": 90, "viewingAngle": 30},
        "viewport": {"width": 300, "height": 800}})
    wanted = [-math.pi / 2, math.pi / 3, math.pi / 2, -math.pi / 3, 1200 * 40_075_016.686 / 2 / 256 / 2**14,
              2 * math.atan(2 / 3)]
    given = [target["longitude"], target["latitude"], heading, pitch, scope, angle]
    expect(all(math.isclose(*pair, rel_tol=1e-12) for pair in zip(given, wanted)), f"Cesium is asked for {given}")
    expect(drawn == [0, 3], f"Cesium draws at once what is for a frame: {drawn}")
    element = page.run("return checks.parsedLookAt(values[0])", {
        "position": {"target": {"latitude": -48.8584, "longitude": 2.2945}, "zoom": 14, "bearing": 30,
                     "viewingAngle": 45},
        "viewport": {"width": 390, "height": 844}})
    expect(element == {"longitude": "2.2945", "latitude": "-48.8584", "altitude": "0", "heading": "30", "tilt": "45",
                       "range": "7958.332", "altitudeMode": "relativeToGround", "gx:horizFov": "17.512729"},
           f"a LookAt is {element}")
    return tilted, earth


def check_styles(page):
    if "maplibre" not in MISSING:
        errors = page.run("return await checks.mapLibreStyles()")
        expect(max(errors) < 1e-4, f"before it has loaded, and with another style, MapLibre is {errors} px off")


# MARK: Flights

def at(latitude, longitude, zoom, bearing=0, viewing_angle=0):
    return {"target": {"latitude": latitude, "longitude": longitude}, "zoom": zoom, "bearing": bearing,
            "viewingAngle": viewing_angle}


SCREEN = {"width": 400, "height": 300}
TILTED = {"width": 390, "height": 844, "padding": {"top": 100, "left": 0, "bottom": 40, "right": 30}}
FLIGHTS = {
    "through a city": (SCREEN, at(48.8584, 2.2945, 14), at(48.8606, 2.3376, 14), {}),
    "across a continent": (SCREEN, at(48.8584, 2.2945, 11), at(55.7558, 37.6173, 11), {}),
    "across the date line": (SCREEN, at(35.6812, 139.7671, 9, 30), at(37.7749, -122.4194, 10, 340), {"duration": 3000}),
    "to a street, turned and tilted": (TILTED, at(47.3769, 8.5417, 8, 200), at(46.9481, 7.4474, 16, 350, 50),
                                       {"curve": 1.2, "speed": 0.8}),
    "out, in the south": (TILTED, at(-33.8568, 151.2153, 17, 90, 60), at(-37.8136, 144.9631, 6), {"speed": 3}),
    "low and far": (SCREEN, at(51.5074, -0.1278, 13), at(52.52, 13.405, 12), {"curve": 0.6, "speed": 20}),
    "straight up": (SCREEN, at(40.7128, -74.006, 15), at(40.7128, -74.006, 5, 45, 30), {}),
}
# Differences from MapLibre, and the number of frames in each of the two: MapLibre jumps if a flight would be too long,
# and without any distance it takes half a second, a daemon a quarter.
UNLIKE = {
    "too long": (*FLIGHTS["across a continent"][:3], {"maxDuration": 100}, 6, 0),
    "of the bearing": (SCREEN, at(10, 10, 10), at(10, 10, 10, 90), {}, 15, 30),
}


def flown(viewport, start, end, options):
    """Returns the frames of a flight by a daemon, and the time of the last one in milliseconds."""
    names = {"duration": "durationMs", "maxDuration": "maxDurationMs"}
    request = {"type": "animate", "timeMs": 0, "update": {"kind": "set-camera", "position": end}, "path": "flight",
               "easing": "linear", **{names.get(name, name): value for name, value in options.items()}}
    trace = [{"type": "trace", "version": 1, "viewport": viewport, "position": start}, request]
    events = subprocess.run([GIMBALD.with_name("gimbal"), "run", "-"], input="\n".join(map(json.dumps, trace)), text=True,
                            capture_output=True, check=True).stdout.splitlines()
    frames = [event for event in map(json.loads, events) if event["type"] == "camera-changed"]
    return [event["position"] for event in frames], frames[-1]["timeMs"]


def check_flights(page):
    """Compares flights with MapLibre's own, frame for frame. By definition, only the zooms' origin differs: the world
    has 512 points at MapLibre's zoom 0, and 256 here. Both are straight in Mercator."""
    if "maplibre" in MISSING:
        return None

    def both(viewport, start, end, options):
        frames, last = flown(viewport, start, end, options)
        theirs = page.run("return await checks.mapLibreFlight(...values)",
                          {"viewport": viewport, "from": start, "to": end, **options}, frames)
        return frames, last, theirs

    worst = 0
    for name, (_, _, end, _) in FLIGHTS.items():
        frames, last, theirs = both(*FLIGHTS[name])
        print(f"flight {name}: {theirs}", flush=True)
        expect(frames[-1] == end, f"the flight {name} ends at {frames[-1]}")
        expect(len(frames) == theirs["frames"] > 20 and last - 1000 / 60 < theirs["duration"] < last + 0.001,
               f"the flight {name} takes {last} ms in {len(frames)} frames, MapLibre's {theirs}")
        for part, limit in {"points": 0.001, "zoom": 1e-6, "bearing": 1e-6, "viewingAngle": 1e-6}.items():
            expect(theirs[part] <= limit, f"the {part} of the flight {name} differ by {theirs[part]}")
        worst = max(worst, theirs["points"])
    for name, (*flight, ours, wanted) in UNLIKE.items():
        frames, _, theirs = both(*flight)
        expect([len(frames), theirs["frames"]] == [ours, wanted],
               f"a flight {name} takes {len(frames)} frames, and {theirs['frames']} of MapLibre's")
    return worst


# MARK: Leading

SIZE = 230
MAPS = {name: left for name, left in {"maplibre": 0, "deck": 240, "leaflet": 480, "google": 720}.items()
        if name not in MISSING}


def actions(page, *fingers, kind="mouse"):
    """Moves pointers, each a list of steps: a point to go to, `down`, `up`, `down right`, or milliseconds to wait."""
    sources = []
    for number, steps in enumerate(fingers):
        made = []
        for step in steps:
            if isinstance(step, tuple):
                made.append({"type": "pointerMove", "x": step[0], "y": step[1], "duration": 16})
            elif isinstance(step, int):
                made.append({"type": "pause", "duration": step})
            else:
                step, _, button = step.partition(" ")
                made.append({"type": {"down": "pointerDown", "up": "pointerUp"}[step],
                             "button": 2 if button == "right" else 0})
        sources.append({"type": "pointer", "id": f"{kind}{number}", "parameters": {"pointerType": kind},
                        "actions": made})
    page.browser.execute("actions", {"actions": sources})


def check_sent(page, name, phases=("began", "changed", "ended")):
    """Checks that one map has led, from `began` to `ended`, and nothing else was sent."""
    lines = page.run("return leading.takeSent()")
    told = [line for line in lines if line["type"] == "position"]
    expect(len({line["gesture"] for line in told}) == 1, f"{name}: several maps have led: {lines}")
    expect({line["phase"] for line in told} == set(phases), f"{name}: what was sent is {lines}")
    state = "ended"
    for line in told:
        follows = {"ended": ["began"], "began": ["changed", "ended", "cancelled"],
                   "changed": ["changed", "ended", "cancelled"], "cancelled": ["began"]}[state]
        expect(line["phase"] in follows, f"{name}: {line['phase']} comes after {state}")
        state = line["phase"]
    others = [line["type"] for line in lines if line["type"] != "position"]
    expect(set(others) <= {"get-camera"}, f"{name}: {others} were sent, too")
    return told


def check_all_maps(page, name, zoom=None):
    """Checks that all maps show the camera's position."""
    camera = page.run("return leading.camera('wall')")["position"]
    for kind in MAPS:
        shown = page.run("return leading.position(values[0])", kind)
        pixel = 360 / 256 / 2 ** camera["zoom"]
        limit = pixel if kind == "leaflet" else 1e-3 * pixel
        apart = max(abs(shown["target"][axis] - camera["target"][axis]) for axis in ("latitude", "longitude"))
        expect(apart < limit and abs(shown["zoom"] - camera["zoom"]) < 2e-6,
               f"{name}: {kind} shows {shown}, and the camera is at {camera}")
    return camera


def check_leading(page, server):
    start = {"target": {"latitude": 10, "longitude": 20}, "zoom": 5}
    page.run("await leading.begin(values[0], 'wall', values[1])", server.token, not server.web)
    ask = lambda **message: page.run("return await leading.ask('wall', values[0])", message)
    rest = lambda: page.run("return await leading.rest('wall')")
    ask(type="set-viewport", width=SIZE, height=SIZE)
    if not server.web:
        ask(type="get-camera")  # gimbal-web tells by itself.
    page.run("await leading.known('wall', { height: values[0] })", SIZE)
    ask(type="move", update={"kind": "set-camera", "position": start})

    # A map that only follows sends nothing.
    page.run("leading.takeSent()")
    for kind, left in MAPS.items():
        page.run("await leading.add(values[0], values[0], 'wall', values[1])", kind,
                 {"left": left, "width": SIZE, "height": SIZE, "lead": False})
        actions(page, [(left + 60, 100), "down", *[(left + 60 + step * 8, 100) for step in range(1, 9)], 50, "up"])
        rest()
        sent = page.run("return leading.takeSent()")
        expect(sent == [], f"{kind}, which only follows, has sent {sent}")
        if kind == "deck":  # It shows what it is told, and nothing else.
            shown = page.run("return leading.position(values[0])", kind)
            expect(abs(shown["target"]["longitude"] - 20) < 1e-6, f"deck, which only follows, shows {shown}")
        page.run("leading.remove(values[0])", kind)

    for kind, left in MAPS.items():
        page.run("await leading.add(values[0], values[0], 'wall', values[1])", kind,
                 {"left": left, "width": SIZE, "height": SIZE})
    rest()
    check_all_maps(page, "at first")
    page.run("leading.takeSent()")

    ask(type="animate", update={"kind": "set-camera", "position": {**start, "zoom": 6}}, durationMs=300)
    rest()
    check_all_maps(page, "after an animation")
    sent = page.run("return leading.takeSent()")
    expect([line["type"] for line in sent] == ["animate"], f"who follows has sent {sent}")

    for kind, left in MAPS.items():
        before = page.run("return leading.camera('wall')")["position"]
        x, y = left + SIZE // 2, SIZE // 2
        for name, hold in ("a drag", 200), ("a throw", 0):
            actions(page, [(x, y), "down", *[(x + step * 8, y + step * 4) for step in range(1, 9)], hold, "up"])
            rest()
            check_sent(page, f"{name} of {kind}")
            camera = check_all_maps(page, f"{name} of {kind}")
            moved = (before["target"]["longitude"] - camera["target"]["longitude"]) * 256 * 2 ** before["zoom"] / 360
            expect(moved > 40, f"{name} of {kind} has moved the camera by {moved} points")
            before = camera

    # At another size the picture is the same, and no map has been moved by hand.
    zoom = page.run("return leading.camera('wall')")["position"]["zoom"]
    page.run("await leading.resize(values[0], values[1])", SIZE / 2, zoom - 1)
    page.run("await leading.resize(values[0], values[1])", SIZE, zoom)
    rest()
    sent = page.run("return leading.takeSent()")
    expect(sent == [], f"maps that are resized have sent {sent}")
    check_all_maps(page, "maps that were resized")

    # Bearing and angle, as set with a mouse.
    for kind in {"maplibre", "deck"} & set(MAPS):
        x, y = MAPS[kind] + 60, 150
        actions(page, [(x, y), "down right", *[(x + step * 8, y - step * 4) for step in range(1, 9)], 200, "up right"])
        turned = rest()
        check_sent(page, f"a turn of {kind}")
        expect(5 < turned["bearing"] < 355 and turned["viewingAngle"] > 3, f"a turn of {kind} has made {turned}")
        for other in set(MAPS) - {"leaflet"}:
            shown = page.run("return leading.position(values[0])", other)
            apart = [abs(shown[name] - turned[name]) for name in ("zoom", "bearing", "viewingAngle")]
            expect(max(apart) < 1e-5, f"after a turn of {kind} {other} shows {shown}, and the camera is at {turned}")
        ask(type="move", update={"kind": "set-camera", "position": start})
        rest()
        page.run("leading.takeSent()")

    # A wheel has no event that marks its end.
    for kind, left in MAPS.items():
        if kind == "google":
            continue  # A stand-in has no wheel.
        before = page.run("return leading.camera('wall')")["position"]
        scroll = {"type": "scroll", "x": left + 60, "y": 60, "deltaX": 0, "deltaY": -100, "origin": "viewport"}
        page.browser.execute("actions", {"actions": [
            {"type": "wheel", "id": "wheel", "actions": [{**scroll, "duration": 0}]}]})
        page.run("while (!leading.hasLed()) await new Promise(requestAnimationFrame)")
        rest()
        check_sent(page, f"the wheel on {kind}")
        after = check_all_maps(page, f"the wheel on {kind}")
        expect(after["zoom"] > before["zoom"] + 0.05, f"the wheel on {kind} has zoomed to {after}, from {before}")

    if "maplibre" not in MAPS:
        return

    # Fingers as on a touchscreen.
    before = page.run("return leading.camera('wall')")["position"]
    actions(page, [(95, 115), "down", *[(95 - step * 5, 115) for step in range(1, 9)], 300, "up"],
            [(135, 115), "down", *[(135 + step * 5, 115) for step in range(1, 9)], 300, "up"], kind="touch")
    rest()
    check_sent(page, "a pinch of maplibre")
    after = check_all_maps(page, "a pinch of maplibre")
    expect(after["zoom"] > before["zoom"] + 0.5, f"a pinch has zoomed from {before['zoom']} to {after['zoom']}")

    # A constraint holds the camera, and the map returns to it.
    ask(type="set-zoom-range", maxZoom=after["zoom"])
    page.run("leading.takeSent()")
    actions(page, [(95, 115), "down", *[(95 - step * 5, 115) for step in range(1, 9)], 300, "up"],
            [(135, 115), "down", *[(135 + step * 5, 115) for step in range(1, 9)], 300, "up"], kind="touch")
    rest()
    told = check_sent(page, "a pinch beyond the limit")
    expect(max(line["position"]["zoom"] for line in told if "position" in line) > after["zoom"] + 0.5,
           "the pinch was not beyond the limit")
    held = check_all_maps(page, "a pinch beyond the limit")
    expect(held["zoom"] == after["zoom"], f"the limit {after['zoom']} became {held['zoom']}")

    # A finger that lands stops a motion.
    ask(type="animate", update={"kind": "zoom-to", "zoom": 2}, durationMs=60_000, easing="linear")
    page.run("leading.takeSent()")
    actions(page, [(115, 115), "down", 100, "up"])
    stopped = rest()
    expect(stopped["zoom"] > 2.5, f"a finger on maplibre has not stopped the camera: {stopped}")
    check_sent(page, "a finger that rests", ["began", "ended"])
    check_all_maps(page, "a finger that rests")

    # A map that is removed while it is moved leaves the camera at rest.
    actions(page, [(115, 115), "down", (135, 115), (155, 115)])
    page.run("while (!leading.isLeading()) await new Promise(requestAnimationFrame); leading.end('maplibre')")
    actions(page, ["up"])
    ask(type="await-idle", timeoutMs=5000)
    told = page.run("return leading.takeSent()")
    expect([line["phase"] for line in told if line["type"] == "position"][-1] == "cancelled", f"the end is {told}")
    expect(page.run("return leading.takeErrors()") == [], "the daemon has refused something")


def check_return(browser, daemon):
    """A page whose stream has ended reconnects, and gets what it missed."""
    server = Server(daemon.socket)
    page = Page(browser, f"{server.origin}/?small")
    zoom = lambda value: daemon.ask(json.dumps({
        "type": "move", "id": 1, "camera": "back", "update": {"kind": "zoom-to", "zoom": value}}))
    page.run("await leading.begin(values[0], 'back', true)", server.token)
    for value in (5, 7):
        zoom(value)
        page.run("await leading.known('back', { zoom: values[0] })", value)
        for connection in server.pages.values():
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        zoom(value + 1)
        page.run("await leading.known('back', { zoom: values[0] })", value + 1)
    heard = page.run("return leading.connections")
    expect(heard == ["feed", "the stream has ended"] * 2 + ["feed"], f"a page that comes back hears {heard}")


def check_own_page(browser, daemon):
    """A page of an allowed other origin follows a camera and feeds it without a proxy; no other one does."""
    if not GIMBAL_WEB:
        print("adapters: skipped: pages of another origin: gimbal-web is not built", flush=True)
        return
    own, foreign = Server(daemon.socket), Server(daemon.socket)
    with daemon.serve("--allow-origin", own.origin) as link:
        web, token = link.split("/#token=")
        page = Page(browser, f"{own.origin}/?small")
        shown = page.run("""
            const [{ connect }, { follow }] = await Promise.all(
                ["stream", "leaflet"].map((name) => import(`/adapters/${name}.js`)));
            const element = Object.assign(document.createElement("div"), { style: "width: 390px; height: 844px" });
            document.body.append(element);
            const map = L.map(element, { zoomSnap: 0 });
            const [base, token] = values, { cameras, close } = connect({ base, token });
            await new Promise((resolve) => cameras.addEventListener("connection", resolve, { once: true }));
            const camera = cameras.camera("own");
            follow(map, camera);
            const target = { latitude: 48.8584, longitude: 2.2945 };
            await camera.send({ type: "move", update: { kind: "set-camera", position: { target, zoom: 14.5 } } });
            while (camera.position?.zoom !== 14.5) await new Promise(requestAnimationFrame);
            const { lat, lng } = map.getCenter();
            close();
            return { lat, lng, zoom: map.getZoom() };""", web, token)
        expect(all(abs(shown[key] - value) < 1e-5 for key, value in {"lat": 48.8584, "lng": 2.2945, "zoom": 14.5}.items()),
               f"a page of another origin shows {shown}")
        expect(not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"],
               "a page of another origin hears no complaint")
        page = Page(browser, f"{foreign.origin}/?small")
        results = page.run("""
            const { connect } = await import("/adapters/stream.js");
            const [base, token] = values, { cameras, close } = connect({ base, token });
            const heard = await new Promise((resolve) =>
                cameras.addEventListener("connection", ({ detail }) => resolve(detail), { once: true }));
            close();
            const blind = { method: "POST", mode: "no-cors", body: '{"type":"stop"}' };
            const answer = await fetch(`${base}/lines`, blind).catch(({ message }) => message);
            return [heard, answer, cameras.names];""", web, token)
        expect(results == ["Failed to fetch", "Failed to fetch", []], f"a page that was not allowed hears {results}")
        refusals = [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
        expect(any("CORS" in text for text in refusals), f"the browser refuses in the name of CORS: {refusals}")


def check_shared(page):
    for name in page.run("return Object.keys(leading.shared)"):
        given, wanted = page.run("return await leading.shared[values[0]]()", name)
        expect(given == wanted, f"{name}: {given} instead of {wanted}")
    results = page.run("return await leading.lines()")
    wanted = {"events": [4, 7, 2], "answer": [9, 5, 20], "reset": [8, 1, "b"], "frame": [True, False, "main"],
              "error": "a replay runs", "lost": "gone", "removed": [None, -1], "names": ["main"]}
    for name, value in wanted.items():
        expect(results[name] == value, f"lines, {name}: {results[name]} instead of {value}")


# MARK: Documentation

FOLDER = FOLDERS["adapters"]


def blocks(text, kind):
    return re.findall(rf"^```{kind}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def check_documentation(browser, server, ask):
    for name in sorted(file.name for file in FOLDER.iterdir() if file.suffix in (".js", ".html")):
        expect(f"]({name})" in README, f"README.md does not name {name}")

    # The five lines at the top of each module, and those of the README.
    examples = {"README.md": "".join(blocks(README, "js"))}
    for file in sorted(FOLDER.glob("*.js")):
        head = re.match(r"(?://.*\n)+", file.read_text())[0]
        expect(2 <= head.count("\n") <= 30, f"{file.name} has no head")
        examples[file.name] = "".join(re.findall(r"^// {5}(.*\n)", head, re.MULTILINE))
    for name, text in examples.items():
        if not text:
            expect(name in ("link.js", "earth.js"), f"{name} has no example")
            continue
        engine = {"maplibre.js": "maplibre", "README.md": "maplibre", "deck.js": "deck"}.get(name)
        if engine not in MISSING:
            page = Page(browser, server.origin if engine else f"{server.origin}/?small")
            failures = page.run("return await leading.example(...values)", text, server.token, "/gimbal")
            expect(failures == [], f"the example of {name} says {failures}")

    # The table for implementations in other languages.
    rows = [json.loads(line) for line in "".join(blocks(README, "json earth")).splitlines()]
    expect(len(rows) >= 5, "README.md has no numbers of the earth")
    found = page.run("return checks.earthNumbers(values[0])", rows)
    for row, numbers in zip(rows, found):
        expect(abs(row["range"] - numbers["range"]) < 1e-6 and abs(row["horizFov"] - numbers["horizFov"]) < 1e-6
               and row["viewSync"] == numbers["viewSync"], f"README.md has {row}, and the functions {numbers}")

    near = {"target": {"latitude": 1e-7, "longitude": -1e-7}, "zoom": 21, "bearing": 0, "viewingAngle": 0}
    [numbers] = page.run("return checks.earthNumbers(values)", {"position": near, "viewport": rows[0]["viewport"]})
    expect(numbers["viewSync"].startswith("7,0.0000001,-0.0000001,"), f"small numbers are {numbers['viewSync']}")

    for line in "".join(blocks(README, "json client")).splitlines():
        answers = ask(line)
        expect(all(answer["type"] in ("ok", "camera") for answer in answers), f"{line}: {answers}")


def check_wall(browser, server, ask):
    """The page for a wall shows a camera, and leads it."""
    if "maplibre" in MISSING:
        return
    name = "shop"
    move = {"type": "move", "id": 1, "camera": name, "update": {"kind": "zoom-to", "zoom": 13.5}}
    ask(json.dumps(move))
    page = Page.__new__(Page)
    page.browser = browser
    browser.get(f"{server.origin}/adapters/maplibre.html?camera={name}&lead#token={server.token}")
    page.run("const state = document.getElementById('state');"
             "while (state.textContent) await new Promise(requestAnimationFrame)")
    # The picture shows lines on its ground.
    for _ in range(100):
        drawn = page.run("""
            const image = new Image(), canvas = document.createElement("canvas");
            image.src = "data:image/png;base64," + values[0];
            await image.decode();
            [canvas.width, canvas.height] = [image.width, image.height];
            const context = canvas.getContext("2d");
            context.drawImage(image, 0, 0);
            const pixels = new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer);
            return pixels.reduce((count, pixel) => count + (pixel !== pixels[0] ? 1 : 0), 0) / pixels.length;
            """, browser.get_screenshot_as_base64())
        if drawn > 0.01:
            break
        time.sleep(0.05)
    expect(0.01 < drawn < 0.5, f"of the page for a wall {drawn} is drawn")
    width, height = page.run("return [innerWidth, innerHeight]")
    actions(page, [(width // 2, height // 2), "down", *[(width // 2 + step * 10, height // 2) for step in range(1, 9)],
                   200, "up"])
    wait = {"type": "await-idle", "id": 2, "camera": name, "timeoutMs": 5000}
    for _ in range(200):
        target = ask(json.dumps(wait))[-1]["position"]["target"]
        if target["longitude"]:
            break
        time.sleep(0.05)
    expect(target["longitude"] < -0.005, f"the page for a wall has led the camera to {target}")


def check_in_step(browser, server, path):
    """Engines that follow a camera draw each frame for its display time, with the positions announced by the daemon."""
    if not server.web:
        print("adapters: skipped: engines in step: gimbal-web is not built")
        return
    script = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": RECORD})
    page = Page(browser, server.origin)
    browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
    page.run("await leading.begin(values[0], 'ahead')", server.token)
    page.run("await leading.ask('ahead', { type: 'set-viewport', width: values[0], height: values[0] })", SIZE)
    page.run("await leading.known('ahead', { height: values[0] })", SIZE)
    # Google's stand-in shows a camera 30 ms after the request, as its documentation allows. Leaflet uses whole pixels.
    engines = {kind: 360 / 2048 if kind == "leaflet" else 1e-6 for kind in MAPS if kind != "google"}
    for kind in engines:
        page.run("await leading.add(values[0], values[0], 'ahead', values[1])", kind,
                 {"left": MAPS[kind], "width": SIZE, "height": SIZE, "lead": False})
    page.run("window.look = () => values[0].map((kind) => leading.drawn(kind))", list(engines))
    with socket.socket(socket.AF_UNIX) as mirror:
        mirror.connect(str(path))
        start = tell_ahead(lambda **line: mirror.sendall(json.dumps(line).encode() + b"\n"), "ahead")
        page.run("while (leading.camera('ahead').position?.target.longitude !== values[0]) await new Promise(requestAnimationFrame)", LAST)
    shown = page.run("return shown")
    for index, (kind, tolerance) in enumerate(engines.items()):
        count, wrong = wrong_frames([(*times, longitudes[index]) for *times, longitudes in shown], start, tolerance)
        print(f"{kind} in step: {count - len(wrong)} of {count} frames", flush=True)
        expect(count > 20 and len(wrong) <= count // 50,
               f"{kind} draws each frame for its time: {len(wrong)} of {count} are not: {wrong[:5]}")


PLACES = {"#ff0000": (46.62, 8.80), "#00c000": (46.43, 9.15), "#0000ff": (46.33, 8.78)}


def dots(browser):
    """Returns the middle of each colour of PLACES on the screen, in pixels."""
    return browser.execute_async_script("""
        const [image, colors, done] = arguments;
        (async () => {
            const picture = new Image(), canvas = document.createElement("canvas");
            const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(image), (c) => c.charCodeAt(0))]));
            [canvas.width, canvas.height] = [bitmap.width, bitmap.height];
            const context = canvas.getContext("2d");
            context.drawImage(bitmap, 0, 0);
            const {data} = context.getImageData(0, 0, bitmap.width, bitmap.height);
            return Object.fromEntries(colors.map((color) => {
                const rgb = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
                let [x, y, count] = [0, 0, 0];
                for (let i = 0; i < data.length; i += 4) {
                    if (rgb.some((value, part) => Math.abs(value - data[i + part]) > 8)) continue;
                    const at = i / 4;
                    x += at % bitmap.width + 0.5;
                    y += Math.floor(at / bitmap.width) + 0.5;
                    count += 1;
                }
                return [color, count > 20 ? [x / count, y / count] : null];
            }));
        })().then(done, (error) => done({error: String(error)}));
        """, browser.get_screenshot_as_base64(), list(PLACES))


def check_page_style(browser, daemon):
    """gimbal-web's own page draws its camera with MapLibre, in a style with data from another origin."""
    if "maplibre" in MISSING or not GIMBAL_WEB:
        print("adapters: skipped: the page in a style of one's own", flush=True)
        return
    style, data = Server(daemon.socket), Server(daemon.socket)
    data.public["/places.json"] = json.dumps({"type": "FeatureCollection", "features": [
        {"type": "Feature", "properties": {"color": color},
         "geometry": {"type": "Point", "coordinates": [longitude, latitude]}}
        for color, (latitude, longitude) in PLACES.items()]})
    style.public["/style.json"] = json.dumps({
        "version": 8,
        "sources": {"places": {"type": "geojson", "data": f"{data.origin}/places.json",
                               "attribution": '<a href="https://map.example">&copy; A &amp; B</a>'}},
        "layers": [
            {"id": "ground", "type": "background", "paint": {"background-color": "#f0e0d0"}},
            {"id": "dots", "type": "circle", "source": "places",
             "paint": {"circle-radius": 9, "circle-color": ["get", "color"]}},
        ]})
    options = ["--map-style", f"{style.origin}/style.json", "--map-engine", ENGINES / "maplibre-gl.js"]
    move = {"type": "move", "id": 1, "camera": "styled", "update": {"kind": "set-camera", "position": {
        "target": {"latitude": 46.5, "longitude": 8.9}, "zoom": 9.4, "bearing": 330, "viewingAngle": 40}}}
    daemon.ask(json.dumps(move))

    def wait(what):
        for _ in range(400):
            try:
                value = what()
            except TimeoutException:
                value = None  # Where much else runs, the browser draws late.
            if value:
                return value
            time.sleep(0.05)
        return value

    with daemon.serve(*options) as link:
        browser.get(f"{link}&camera=styled")
        toast = lambda: browser.execute_script("return document.querySelector('#toast').textContent")
        expect(wait(lambda: "--map-origin" in toast()) and data.origin in toast(),
               f"an origin that was not named is told: {toast()!r}")
        browser.get("about:blank")
        browser.get_log("browser")  # The refusal was meant.
    with daemon.serve(*options, "--map-origin", data.origin) as link:
        browser.get(f"{link}&camera=styled")
        found = wait(lambda: (lambda seen: seen if all(seen.values()) else None)(dots(browser)))
        expect(found, f"the page draws the style's places: {found or dots(browser)}")
        worst = 0
        for color, (latitude, longitude) in PLACES.items():
            question = {"type": "project", "id": 1, "camera": "styled",
                        "coordinate": {"latitude": latitude, "longitude": longitude}}
            point = daemon.ask(json.dumps(question))[-1]["point"]
            left, top, scale = browser.execute_script("""
                const box = document.querySelector("#view").getBoundingClientRect();
                return [box.left, box.top, box.width / gimbal.camera("styled").viewport.width];""")
            x, y = left + point["x"] * scale, top + point["y"] * scale
            if found:
                worst = max(worst, math.hypot(found[color][0] - x, found[color][1] - y))
        expect(worst < 1, f"the page's map is {worst} pixels from where the daemon projects places")
        credits = browser.execute_script("return document.querySelector('#credits').textContent")
        expect(credits == "© A & B | MapLibre", f"the style's sources are named: {credits!r}")
        if PICTURES:
            browser.save_screenshot(f"{PICTURES}/styled.png")
        # It follows the camera, and draws other cameras, too.
        daemon.ask(json.dumps({**move, "update": {"kind": "set-bearing", "bearing": 0}}))
        expect(wait(lambda: (dots(browser)["#ff0000"] or [0])[0] and dots(browser)["#ff0000"] != found["#ff0000"]),
               "the map follows the camera")
        browser.get("about:blank")
        print(f"the page in a style of one's own: worst {worst:.2g} pixels", flush=True)


class Daemon:
    def __init__(self, folder):
        self.socket = Path(folder) / "gimbal.sock"

    def __enter__(self):
        self.process = subprocess.Popen([GIMBALD, "--socket", self.socket], stderr=subprocess.DEVNULL)
        while not self.socket.exists():
            if self.process.poll() is not None:
                sys.exit(f"adapters: gimbald has ended with {self.process.returncode}")
            time.sleep(0.01)
        self.web, self.link = contextlib.ExitStack(), None
        if GIMBAL_WEB:
            self.link = self.web.enter_context(self.serve())
        return self

    @contextlib.contextmanager
    def serve(self, *options):
        """Runs gimbal-web; returns its link."""
        process = subprocess.Popen([*GIMBAL_WEB, "--socket", self.socket, *options], stdout=subprocess.PIPE, text=True,
                                   stderr=subprocess.DEVNULL)
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
            process.wait()

    def ask(self, line):
        """Returns the answers to a line."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.socket))
            connection.sendall(line.encode() + b"\n")
            connection.shutdown(socket.SHUT_WR)
            return [json.loads(answer) for answer in connection.makefile("rb")]

    def __exit__(self, *_):
        self.web.close()
        self.process.terminate()
        self.process.wait()


def main():
    with tempfile.TemporaryDirectory() as folder, Daemon(folder) as daemon, chromium() as browser:
        server = Server(daemon.socket, daemon.link)
        check_shared(Page(browser, f"{server.origin}/?small"))
        page = Page(browser, server.origin)
        results = dict(check_cases(page, cases()))
        check_numbers(page)
        check_styles(page)
        flights = check_flights(page)
        page = Page(browser, server.origin)
        check_leading(page, server)
        check_return(browser, daemon)
        check_own_page(browser, daemon)
        check_documentation(browser, server, daemon.ask)
        check_wall(browser, server, daemon.ask)
        check_page_style(browser, daemon)
        check_in_step(browser, server, daemon.socket)
        for entry in browser.get_log("browser"):
            expect(entry["level"] != "SEVERE", f"the browser says: {entry['message']}")
    if FAILURES:
        sys.exit(1)
    worst = ", ".join(f"{name} {result['project']:.2g} px" for name, result in results.items())
    flights = "" if flights is None else f"; {len(FLIGHTS)} flights are MapLibre's to {flights:.2g} px"
    print(f"adapters: {worst}; {len(MAPS)} engines lead{flights}")


main()
