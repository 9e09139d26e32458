"""Tests gimbal-mqtt with independent brokers, daemons and clients. See fleet.sh.

Nothing waits for a fixed time: expected states are polled for, and the absence of something is checked after a later
message on the same path.
"""

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time

import paho.mqtt.client as mqtt
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from machines import BIN, FOLDER, Daemon, Machine, Process, WallClock, can_make_machines, clean_up, free_port, mosquitto
from machines import listens, nats_cluster, nats_server, open_mosquitto, run, wait_for
from step import measure, measure_motions

PATIENCE = 30
failed = checks = 0


def check(is_so, what):
    global failed, checks
    checks += 1
    if not is_so:
        failed += 1
        print(f"fleet: FAILED: {what}", flush=True)


def until(what, condition, patience=PATIENCE):
    """Polls until a condition is true; returns its value."""
    result = wait_for(condition, patience)
    check(result, what)
    return result


class Feed:
    """A connection to a daemon that holds a gesture."""

    def __init__(self, daemon):
        self.socket = daemon.connection()

    def send(self, **message):
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def close(self):
        self.socket.close()


class Client:
    """A foreign client: python3-paho-mqtt."""

    def __init__(self, address, port, user=None, version=5, tls=None):
        protocol = mqtt.MQTTv5 if version == 5 else mqtt.MQTTv311
        self.client = mqtt.Client(protocol=protocol)
        self.messages = []
        self.published = {}
        self.topics = []
        # A broker that was killed has forgotten all subscriptions.
        self.client.on_connect = lambda *connection: self.ask()
        self.client.on_message = lambda client, data, message: self.messages.append(message)
        self.client.on_publish = lambda client, data, mid, *rest: self.published.__setitem__(mid, rest)
        if user:
            self.client.username_pw_set(user, f"secret of {user}")
        if tls:
            self.client.tls_set(str(tls))
        self.client.connect(address, port, 20)
        self.client.loop_start()
        until(f"{user} is connected", self.client.is_connected)

    def subscribe(self, *topics):
        self.topics += topics
        self.ask()

    def ask(self):
        options = mqtt.SubscribeOptions(1) if self.client._protocol == mqtt.MQTTv5 else 1
        if self.topics:
            self.client.subscribe([(topic, options) for topic in self.topics])

    def publish(self, topic, message, reply=None):
        properties = None
        if reply:
            properties = Properties(PacketTypes.PUBLISH)
            properties.ResponseTopic = reply
            properties.CorrelationData = b"\x01\x02"
        text = message if isinstance(message, str) else json.dumps(message)
        number = self.client.publish(topic, text, 1, properties=properties).mid
        until(f"{topic} is published", lambda: number in self.published)

    def of(self, topic):
        return [message for message in list(self.messages) if message.topic == topic]

    def end(self):
        self.client.disconnect()
        self.client.loop_stop()


def make_certificates(addresses):
    names = ",".join(f"IP:{address}" for address in addresses)
    run(
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
        "-subj", "/CN=gimbal test authority", "-keyout", FOLDER / "ca.key", "-out", FOLDER / "ca.pem")
    run(
        "openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=broker",
        "-keyout", FOLDER / "broker.key", "-out", FOLDER / "broker.csr")
    (FOLDER / "names").write_text(f"subjectAltName={names}\n")
    run(
        "openssl", "x509", "-req", "-in", FOLDER / "broker.csr", "-CA", FOLDER / "ca.pem", "-CAkey", FOLDER / "ca.key",
        "-CAcreateserial", "-days", "2", "-extfile", FOLDER / "names", "-out", FOLDER / "broker.pem")
    for name in ("ca.pem", "broker.pem", "broker.key"):
        (FOLDER / name).chmod(0o644)


USERS = {
    "guide": ["topic readwrite gimbal/guide/#", "topic write gimbal/reply/#"],
    "wall": ["topic read gimbal/guide/$state", "topic read gimbal/guide/+/camera", "topic read gimbal/guide/+/settings"],
    "phone": [
        "topic write gimbal/guide/main/gesture/phone", "topic write gimbal/guide/main/set", "topic write gimbal/guide/main/get",
        "topic read gimbal/guide/main/error", "topic read gimbal/reply/phone", "topic read gimbal/guide/+/camera"],
    "judge": ["topic read gimbal/#", "topic write gimbal/guide/main/since"],
    "stranger": ["topic read gimbal/guide/main/camera"],
}


class Mosquitto:
    def __init__(self, port):
        self.port, self.plain_port = port, free_port()
        (FOLDER / "acl").write_text("\n\n".join(f"user {user}\n" + "\n".join(rules) for user, rules in USERS.items()) + "\n")
        for user in USERS:
            create = ["-c"] if user == next(iter(USERS)) else []
            run("mosquitto_passwd", "-b", *create, FOLDER / "passwords", user, f"secret of {user}")
            secret = FOLDER / f"{user}.conf"
            secret.write_text(f"# For the tests.\nuser = {user}\npassword = secret of {user}\n")
            secret.chmod(0o600)
        self.start()

    def start(self):
        self.process = mosquitto(
            "mosquitto", f"listener {self.port}", f"cafile {FOLDER}/ca.pem", f"certfile {FOLDER}/broker.pem",
            f"keyfile {FOLDER}/broker.key", "allow_anonymous false", f"password_file {FOLDER}/passwords", f"acl_file {FOLDER}/acl",
            f"listener {self.plain_port} 127.0.0.1", "persistence true", f"persistence_location {FOLDER}/", "autosave_interval 1",
            port=self.port)


def bridge(name, daemon, *options, user=None, port=0, machine=None, environment=None):
    host = machine.router if machine else "127.0.0.1"
    secure = ("--ca", FOLDER / "ca.pem", "--credentials", FOLDER / f"{user}.conf") if user else ()
    scheme = "mqtts" if user else "mqtt"
    return Process(
        name, BIN / "gimbal-mqtt", "--broker", f"{scheme}://{host}:{port}", "--socket", daemon.path, "--keepalive", "5",
        *secure, *options, machine=machine, environment=environment)


def state_of(client, node="guide"):
    told = client.of(f"gimbal/{node}/$state")
    return json.loads(told[-1].payload)["state"] if told else None


def same(guide, wall, local="copy"):
    return guide.camera("main") == wall.camera(local) and guide.rests("main") and wall.rests(local)


# The parts of the test.


def try_mosquitto():
    obstacle = can_make_machines()
    if obstacle:
        print(f"fleet: two machines: skipped: network namespaces cannot be made here: {obstacle}")
    guide_machine, wall_machine = (None, None) if obstacle else (Machine("guide"), Machine("wall"))
    make_certificates(["127.0.0.1"] + [machine.router for machine in (guide_machine, wall_machine) if machine])
    port = free_port()
    broker = Mosquitto(port)
    guide, wall = Daemon("guide"), Daemon("wall")
    node_options = ("--node", "guide", "--events", "--feed-timeout", "1.5")
    node = bridge("node", guide, *node_options, user="guide", port=port, machine=guide_machine)
    # Without TLS: with it, paho's thread does not survive a killed broker.
    judge = Client("127.0.0.1", broker.plain_port, "judge")
    judge.subscribe("gimbal/guide/#")
    until("the node is ready", lambda: state_of(judge) == "ready")
    mirror = bridge(
        "mirror", wall, "--follow", "guide/main", "--as", "copy", user="wall", port=port,
        machine=wall_machine)

    # A wrong password, and an untrusted authority.
    (FOLDER / "wrong.conf").write_text("user = guide\npassword = guessed\n")
    (FOLDER / "wrong.conf").chmod(0o600)
    wrong = bridge("wrong", guide, "--node", "guide", user="wrong", port=port)
    until("a wrong password is refused", lambda: wrong.said("ot authori"))
    wrong.end()
    stranger = Process(
        "untrusted", BIN / "gimbal-mqtt", "--broker", f"mqtts://127.0.0.1:{port}", "--node", "guide", "--socket", guide.path,
        "--credentials", FOLDER / "guide.conf")
    until("a broker that nobody vouches for is not trusted", lambda: stranger.said("no broker"))
    check(not stranger.said("connected to the broker"), "a broker that nobody vouches for is not spoken to")
    stranger.end()

    # Follow and move, by way of the daemon and of MQTT.
    guide.ask('{"type":"move","id":1,"update":{"kind":"set-target","target":{"latitude":48.8584,"longitude":2.2945},"zoom":14}}')
    until("the mirror is where its source is", lambda: same(guide, wall))
    guide.ask('{"type":"animate","id":1,"update":{"kind":"set-bearing","bearing":123.456789},"durationMs":400}')
    until("after an animation, too", lambda: "123.456789" in wall.position("copy") and same(guide, wall))
    phone = Client("127.0.0.1", port, "phone", tls=FOLDER / "ca.pem")
    phone.subscribe("gimbal/reply/phone", "gimbal/guide/main/error", "gimbal/guide/main/camera")
    first = until("a late subscriber is told the camera", lambda: phone.of("gimbal/guide/main/camera"))
    check(first and first[0].retain, "what a late subscriber is told first is what the broker has kept")
    kept = first and first[0].payload.decode()
    check(kept and guide.position("main") in kept and '"moving":false' in kept, f"it is the camera at rest: {kept}")
    for setting in (
            {"type": "set-viewport", "width": 1080.5, "height": 1920, "padding": {"top": 12.25}}, {"type": "set-zoom-range", "maxZoom": 18.5},
            {"type": "set-target-bounds", "bounds": {"southWest": {"latitude": 40, "longitude": 0}, "northEast": {"latitude": 55, "longitude": 9.5}}}):
        guide.ask(json.dumps({"id": 1, **setting}))
    until("the mirror is set as its source is", lambda: "1080.5" in wall.camera("copy") and "9.5" in wall.camera("copy") and same(guide, wall))
    told = until("the broker is told of it", lambda: [told for told in judge.of("gimbal/guide/main/settings") if b"9.5" in told.payload])
    settings = guide.camera("main").split(',"minZoom"', 1)[1].rstrip("}")
    check(told and settings in told[-1].payload.decode(), "digit for digit")
    guide.ask('{"type":"set-target-bounds","id":1,"bounds":null}')
    before = guide.position("main")
    for scale in (1, 1.5, 2):
        phone.publish("gimbal/guide/main/gesture/phone", {"type": "pinch", "phase": "changed", "scale": scale})
    until("a foreign client pinches", lambda: guide.position("main") != before)
    # The phone falls silent: its pinch is cancelled, and both cameras rest.
    until("a publisher that is quiet holds nothing", lambda: same(guide, wall))

    # Errors and replies with MQTT 5.
    phone.publish("gimbal/guide/main/set", {"type": "move", "id": "x", "update": {"kind": "zoom-to"}}, reply="gimbal/reply/phone")
    answer = until("an error is told where it is asked for", lambda: phone.of("gimbal/reply/phone"))
    error = answer and json.loads(answer[0].payload)
    check(error and error["code"] == "missing-field" and error["field"] == "update.zoom" and error["id"] == "x", f"{error}")
    check(answer and answer[0].properties.CorrelationData == b"\x01\x02", "it has the correlation data")
    phone.publish("gimbal/guide/main/get", {"type": "get-camera", "id": 7}, reply="gimbal/reply/phone")
    answer = until("a query is answered", lambda: phone.of("gimbal/reply/phone")[1:])
    check(answer and guide.position("main") in answer[0].payload.decode(), "by the camera")

    # A client without rights moves nothing: its publications are acknowledged, and a later query finds no change.
    other = Client("127.0.0.1", port, "stranger", tls=FOLDER / "ca.pem")
    before = guide.position("main")
    for topic in ("set", "gesture", "gesture/phone", "touch"):
        other.publish(f"gimbal/guide/main/{topic}", {"type": "move", "update": {"kind": "zoom-out"}})
    phone.publish("gimbal/guide/main/gesture/stranger", {"type": "double-tap"})
    phone.publish("gimbal/guide/main/get", {"type": "get-camera", "id": 8}, reply="gimbal/reply/phone")
    until("a query behind it is answered", lambda: phone.of("gimbal/reply/phone")[2:])
    check(guide.position("main") == before, "a client without rights moves nothing")

    # MQTT 3.1.1: errors without a response topic.
    old = Client("127.0.0.1", port, "phone", version=4, tls=FOLDER / "ca.pem")
    old.subscribe("gimbal/guide/main/error")
    old.publish("gimbal/guide/main/gesture/phone", {"type": "pan", "phase": "begun"})
    answer = until("an error is told to all that follow them", lambda: old.of("gimbal/guide/main/error"))
    check(answer and json.loads(answer[0].payload)["feed"] == "phone", "and whose it was")
    old.end()

    # A second bridge with this name.
    second = bridge("second", wall, "--node", "guide", user="guide", port=port)
    check(second.process.wait(PATIENCE) == 69 and second.said("another bridge"), "a second bridge of one name is refused")
    check(node.process.poll() is None and state_of(judge) == "ready", "and the first goes on")

    # The bridge dies in the middle of a gesture that it forwarded.
    phone.publish("gimbal/guide/main/gesture/phone", {"type": "pan", "phase": "began"})
    phone.publish("gimbal/guide/main/gesture/phone", {"type": "pan", "phase": "changed", "translation": {"x": 30, "y": 30}})
    node.kill()
    until("a bridge that dies is lost", lambda: state_of(judge) == "lost")
    until("and what it held is let go of", lambda: guide.rests("main") and wall.rests("copy"))
    guide.ask('{"type":"move","id":1,"update":{"kind":"zoom-to","zoom":9.5}}')
    node = bridge("node", guide, *node_options, user="guide", port=port, machine=guide_machine)
    until("the next one is ready", lambda: state_of(judge) == "ready")
    until("and the mirror is where the source went meanwhile", lambda: "9.5" in wall.position("copy") and same(guide, wall))

    # The broker is killed in the middle of a pinch, twice; the second time it forgets everything.
    for forgets in (False, True):
        feed = Feed(guide)
        for step in range(60):
            feed.send(type="pinch", phase="changed", scale=1 + step / 60)
            if step == 30:
                broker.process.kill()
                if forgets:
                    (FOLDER / "mosquitto.db").unlink(missing_ok=True)
            time.sleep(0.01)
        until("the mirror rests while there is no broker", lambda: wall.rests("copy"))
        judge.messages.clear()
        broker.start()
        feed.send(type="pinch", phase="changed", scale=2.5)
        feed.send(type="pinch", phase="ended")
        until("both are the same after the broker came back", lambda: same(guide, wall))
        feed.close()
        until("the node is ready again", lambda: state_of(judge) == "ready")

    # A machine is cut off: no side is notified, and nothing arrives.
    if guide_machine:
        guide_machine.switch("down")
        guide.ask('{"type":"move","id":1,"update":{"kind":"set-viewing-angle","viewingAngle":21.5}}')
        until("a machine that is cut off is lost", lambda: state_of(judge) == "lost")
        guide_machine.switch("up")
        until("when it is back, both are the same", lambda: "21.5" in wall.position("copy") and same(guide, wall))
        until("and it is ready", lambda: state_of(judge) == "ready")

    # The daemons exit and come back.
    guide.end()
    until("a node without a daemon says so", lambda: state_of(judge) == "disconnected")
    guide = Daemon("guide")
    until("until it is back", lambda: state_of(judge) == "ready")
    wall.end()
    guide.ask('{"type":"move","id":1,"update":{"kind":"zoom-to","zoom":11.25}}')
    wall = Daemon("wall")
    until("a mirror's daemon that is back follows", lambda: "11.25" in wall.position("copy") and same(guide, wall))

    # Every event arrives, in order; those after a given one can be requested again.
    judge.messages.clear()
    before = json.loads(guide.ask('{"type":"get-camera"}'))["seq"]
    for zoom in range(12):
        guide.ask(json.dumps({"type": "move", "id": 1, "update": {"kind": "zoom-to", "zoom": 5 + zoom / 2}}))
    last = json.loads(guide.ask('{"type":"get-camera"}'))["seq"]

    def seqs(topic):
        events = [json.loads(message.payload) for message in judge.of(f"gimbal/guide/main/{topic}")]
        return [event["seq"] for event in events if event["type"] != "subscribed"]

    until("all events are told", lambda: last in seqs("event"))
    check(seqs("event") == list(range(before + 1, last + 1)) and last >= before + 33, f"in order: {seqs('event')}")
    epoch = json.loads(judge.of("gimbal/guide/main/camera")[-1].payload)["epoch"]
    judge.publish("gimbal/guide/main/since", {"since": last - 5, "epoch": epoch})
    until("those that were missed are told again", lambda: seqs("missed") == list(range(last - 4, last + 1)))

    check(node.end() == 0 and mirror.end() == 0, "bridges end in good order")
    until("the node says that it has ended", lambda: state_of(judge) == "disconnected")
    for client in (judge, phone, other):
        client.end()
    broker.process.end()
    guide.end()
    wall.end()


def try_wall():
    """A screen of a wall, and Google Earth, without passwords."""
    earth = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    earth.bind(("127.0.0.1", 0))
    earth.settimeout(PATIENCE)
    broker, port = open_mosquitto("open")
    guide, screen = Daemon("hand"), Daemon("screen")
    node = bridge("hand-node", guide, "--node", "hand", port=port)
    kml = FOLDER / "view.kml"
    mirror = bridge(
        "screen-mirror", screen, "--follow", "hand/main", "--as", "left", "--tile", "0,0", "--of", "3,1", "--screen", "1080,1920",
        "--bezel", "40,0", "--offset-bearing", "-30", "--viewsync", "127.0.0.1:%d" % earth.getsockname()[1], "--kml", kml, port=port)
    guide.ask(
        '{"type":"move","id":1,"update":{"kind":"set-camera","position":{"target":{"latitude":0,"longitude":10},"zoom":16,'
        '"bearing":120,"viewingAngle":60}}}')
    until("a screen turns by its offset", lambda: '"bearing":90,' in screen.position("left"))
    viewport = json.loads(screen.ask('{"type":"get-camera","camera":"left"}'))["viewport"]
    # The whole wall is 3320 points wide: its middle is 1120 points to the right of the screen's middle.
    check(viewport["padding"]["left"] == 2240 and viewport["width"] == 1080 and viewport["height"] == 1920, f"{viewport}")
    while True:
        view = earth.recv(2048).decode().split(",")
        if abs(float(view[5]) - 60) < 0.1:
            break
    distance = 1.5 * 1920 * 40075016.68557849 / (256 * 2**16)
    # On the plane that touches the earth at the target; the earth's curve lowers it by three metres.
    check(abs(float(view[3]) - distance / 2) < 4, f"the eye is R cos 60° high: {view}")
    back = distance * 0.8660254037844386 / 111319.49079327358
    check(abs(float(view[2]) - (10 - back)) < 1e-4 and abs(float(view[4]) - 90) < 1e-6, f"and R sin 60° behind: {view}")
    until("KML looks there", lambda: kml.exists() and "<tilt>60</tilt>" in kml.read_text())
    for process in (node, mirror, broker, guide, screen):
        process.end()


def try_clocks():
    """Two machines whose wall clocks are two days apart; one of them is set while it moves."""
    if not WallClock.can_be_wrong():
        print("fleet: wrong clocks: skipped: faketime is not installed")
        return
    earth = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    earth.bind(("127.0.0.1", 0))
    earth.settimeout(PATIENCE)
    broker, port = open_mosquitto("clocks")
    ahead, behind = WallClock("ahead", "+1d"), WallClock("behind", "-1d")
    guide, wall = Daemon("early", environment=ahead.environment), Daemon("tardy", environment=behind.environment)
    judge = Client("127.0.0.1", port)
    judge.subscribe("gimbal/#")
    node = bridge("early-node", guide, "--node", "early", "--events", port=port, environment=ahead.environment)
    mirror = bridge(
        "tardy-mirror", wall, "--follow", "early/main", "--as", "copy", "--viewsync", "127.0.0.1:%d" % earth.getsockname()[1], port=port,
        environment=behind.environment)
    guide.ask('{"type":"move","id":1,"update":{"kind":"zoom-to","zoom":6.5}}')
    until("a mirror follows whose clock is two days behind", lambda: "6.5" in wall.position("copy") and same(guide, wall))
    view = earth.recv(2048).decode().split(",")
    # ViewSync carries the current time, in seconds since the year 1, and so shows that the clock is wrong.
    check(abs(float(view[7]) - 62135596800 - time.time() + 86400) < 600, f"its clock is a day behind: {view}")
    guide.ask('{"type":"animate","id":1,"update":{"kind":"zoom-to","zoom":12.5},"durationMs":1500}')
    until("both move", lambda: not guide.rests("main") and not wall.rests("copy"))
    ahead.set("-3d")
    behind.set("+3d")
    until("and rest in one place after both clocks were set", lambda: "12.5" in wall.position("copy") and same(guide, wall))
    node.kill()
    node = bridge("early-node", guide, "--node", "early", "--events", port=port, environment=ahead.environment)
    guide.ask('{"type":"move","id":1,"update":{"kind":"zoom-to","zoom":4.75}}')
    until("and with a next node, which is four days younger", lambda: "4.75" in wall.position("copy") and same(guide, wall))
    now = time.time()
    payloads = [re.sub(rb'"wallTime":[0-9.]+', b'', message.payload) for message in list(judge.messages)]
    times = [number for payload in payloads for number in re.findall(rb"\d+", payload)
             if any(abs(int(number) / unit - now) < 10 * 86400 for unit in (1, 1e3, 1e6, 1e9))]
    check(len(judge.messages) > 20 and not times, f"no payload has the wall clock elsewhere: {times}")
    judge.end()
    for process in (node, mirror, broker, guide, wall):
        process.end()


def try_cluster():
    if not shutil.which("nats-server"):
        print("fleet: a cluster: skipped: nats-server is not installed")
        return
    servers, ports = nats_cluster()
    guide, wall = Daemon("shop"), Daemon("kiosk")

    def brokers(order):
        return [word for index in order for word in ("--broker", f"mqtt://127.0.0.1:{ports[index]}")]

    common = ("--mqtt", "3.1.1", "--keepalive", "5")
    node = Process("shop-node", BIN / "gimbal-mqtt", *brokers((0, 1, 2)), "--node", "shop", "--socket", guide.path, *common)
    mirror = Process(
        "kiosk-mirror", BIN / "gimbal-mqtt", *brokers((0, 2, 1)), "--follow", "shop/main", "--as", "copy", "--socket", wall.path,
        *common)
    until("the cluster takes a bridge", lambda: node.said('this is node "shop"'), 60)
    guide.ask('{"type":"move","id":1,"update":{"kind":"zoom-to","zoom":7.75}}')
    until("a mirror at a cluster follows", lambda: "7.75" in wall.position("copy") and same(guide, wall))
    late = Client("127.0.0.1", ports[2], version=4)
    late.subscribe("gimbal/shop/main/camera")
    told = until("another server of the cluster has kept the camera", lambda: late.of("gimbal/shop/main/camera"))
    check(told and told[0].retain and b"7.75" in told[0].payload, "to the digit")
    servers[0].kill()
    guide.ask('{"type":"move","id":1,"update":{"kind":"zoom-to","zoom":8.125}}')
    until("when its server is killed, a mirror follows by another", lambda: "8.125" in wall.position("copy") and same(guide, wall), 90)
    until("and the change is told by the others", lambda: b"8.125" in late.of("gimbal/shop/main/camera")[-1].payload)

    # A server that dies loses its clients' wills.
    servers[0] = nats_server(0)
    until("a server that was killed comes back", lambda: listens("127.0.0.1", ports[0]), 60)
    node.end()
    node = Process(
        "next-node", BIN / "gimbal-mqtt", *brokers((1,)), "--node", "shop", "--socket", guide.path, *common)
    until("the cluster takes the next bridge", lambda: node.said('this is node "shop"'), 60)
    feed = Feed(guide)
    feed.send(type="pinch", phase="began")
    feed.send(type="pinch", phase="changed", scale=1.5)
    until("a mirror at a cluster moves", lambda: not wall.rests("copy"), 60)
    servers[1].kill()
    node.kill()
    until("it sees by itself that a node has died with its server", lambda: mirror.said("considered lost"), 90)
    until("and rests", lambda: wall.rests("copy") and not guide.rests("main"))
    feed.close()
    late.end()
    for process in (mirror, guide, wall, *servers):
        process.end()


def try_circles():
    """Bridges that follow each other in a circle: each refuses in one line, and nothing is echoed, until one stops."""
    broker, port = open_mosquitto("circles")
    for names in ("az", "klm"):
        first, last = names[0], names[-1]
        daemons = {name: Daemon(f"circle-{name}") for name in names}
        source = dict(zip(names, names[1:] + first))
        starts = []

        def begin(name, follows):
            options = ("--follow", f"{source[name]}/main", "--as", "main") if follows else ()
            starts.append(name)
            return bridge(f"circle-{name}-{len(starts)}", daemons[name], "--node", name, *options, port=port)

        def refusal(name):
            circle = (names + names)[names.index(name):][:len(names) + 1]
            links = ", which follows ".join(f"{name}/main" for name in circle[1:])
            return f"main does not follow {source[name]}/main because that would be a circle: {name}/main follows {links}\n"

        def told(name):
            return [message.payload for message in judge.of(f"gimbal/{name}/main/camera")]

        judge = Client("127.0.0.1", port)
        judge.subscribe("gimbal/+/main/camera")
        bridges = {name: begin(name, True) for name in names}
        until(f"all of a circle of {len(names)} refuse it", lambda: all(bridges[name].said(refusal(name)) for name in names))
        judge.messages.clear()
        daemons[first].ask('{"type":"move","id":1,"update":{"kind":"zoom-to","zoom":9}}')
        daemons[first].ask('{"type":"animate","id":1,"update":{"kind":"zoom-to","zoom":14},"durationMs":500}')
        daemons[last].ask('{"type":"move","id":1,"update":{"kind":"set-bearing","bearing":40}}')
        until("each goes its own way", lambda: daemons[first].rests("main") and '"zoom":14,"bearing":0,' in daemons[first].position("main"))
        # An echo would have arrived before that.
        for name in names:
            daemons[name].ask('{"type":"move","id":1,"update":{"kind":"set-viewing-angle","viewingAngle":7}}')
            until("all of it is told", lambda name=name: told(name) and b'"moving":false' in told(name)[-1] and b'Angle":7}' in told(name)[-1])
        counts = [len(told(name)) for name in names]
        # 30 a second, plus beginning and rest; the others were moved once or twice.
        check(counts[0] < 30 and max(counts[1:]) < 6, f"nothing is echoed: {counts}")
        check('"bearing":40,' in daemons[last].position("main"), "no camera is moved by the other")
        check(all(bridges[name].log.read_text().count("circle") == 1 for name in names), "one line of each says so")
        bridges[last].end()
        bridges[last] = begin(last, False)
        until("when one follows no more, the others do", lambda: all(same(daemons[last], daemons[name], "main") for name in names))
        until("and say so", lambda: all(bridges[name].said(f"main follows {source[name]}/main now\n") for name in names[:-1]))
        daemons[last].ask('{"type":"animate","id":1,"update":{"kind":"zoom-to","zoom":11.5},"durationMs":300}')
        until("they move with it", lambda: all('"zoom":11.5,' in daemons[name].position("main") for name in names))
        bridges[last].end()
        bridges[last] = begin(last, True)
        until("and refuse when it does again", lambda: bridges[last].said(refusal(last)) and all(
            bridges[name].log.read_text().count(refusal(name)) == 2 for name in names[:-1]))
        judge.end()
        for process in (*bridges.values(), *daemons.values()):
            process.end()
    broker.end()


def try_limits():
    """Messages that are too large in either direction, and invalid options."""
    broker, port = open_mosquitto("strict", "max_packet_size 1600")
    guide = Daemon("strict-guide")
    node = bridge("strict-node", guide, "--node", "strict", port=port)
    judge = Client("127.0.0.1", port)
    judge.subscribe("gimbal/#")
    until("a node is ready", lambda: state_of(judge, "strict") == "ready")
    guide.ask('{"type":"get-camera"}')
    for _ in range(300):
        # The query is just small enough, its answer is not: both name the topic.
        judge.publish("gimbal/strict/main/get", {"type": "get-camera", "id": "x" * 250}, reply="gimbal/reply/" + "x" * 1000)
    guide.ask('{"type":"move","id":1,"update":{"kind":"zoom-to","zoom":7.25}}')
    until("answers that the broker does not take hold nobody up", lambda: b"7.25" in judge.of("gimbal/strict/main/camera")[-1].payload)
    check(node.said("the broker refused a message"), "and the log has a word of them")
    judge.end()
    for process in (node, broker):
        process.end()

    broker, port = open_mosquitto("lavish")
    # The kernel retries for minutes to connect to a listener that accepts no more, as to a machine that is off.
    silent = socket.create_server(("127.0.0.1", 0), backlog=0)
    held = [socket.socket() for _ in range(4)]
    for each in held:
        each.setblocking(False)
        each.connect_ex(silent.getsockname())
    patient = bridge("patient-node", guide, "--broker", f"mqtt://127.0.0.1:{port}", "--node", "patient", port=silent.getsockname()[1])
    node = bridge("flooded-node", guide, "--node", "flooded", port=port)
    judge = Client("127.0.0.1", port)
    judge.subscribe("gimbal/#")
    until("a node is ready", lambda: state_of(judge, "flooded") == "ready")
    judge.publish("gimbal/flooded/main/gesture", "x" * 70_000, reply="gimbal/reply/long")
    judge.publish("gimbal/flooded/main/gesture", "x" * (100 << 20), reply="gimbal/reply/huge")
    judge.publish("gimbal/flooded/main/get", {"type": "ping", "id": 1}, reply="gimbal/reply/next")
    until("a query behind a huge message is answered", lambda: judge.of("gimbal/reply/next"))
    check(b"line-too-long" in judge.of("gimbal/reply/long")[0].payload, "one that is too long is answered by an error")
    most = int(re.search(r"VmHWM:\s+(\d+) kB", open(f"/proc/{node.process.pid}/status").read())[1]) / 1024
    check(most < 64, f"a message of 100 MiB is not read by the bridge: {most} MiB")
    until("a broker that cannot be reached is passed over for the next", lambda: state_of(judge, "patient") == "ready")
    check(patient.said("no answer"), "and the log says so")
    # It comes back, and accepts the connections that are still trying.
    silent.settimeout(2)
    with silent, contextlib.suppress(TimeoutError):
        while True:
            silent.accept()[0].close()
    guide.ask('{"type":"move","id":1,"update":{"kind":"zoom-to","zoom":9.75}}')
    until("and nothing is lost by its coming back", lambda: b"9.75" in judge.of("gimbal/patient/main/camera")[-1].payload)
    judge.end()
    patient.end()

    (FOLDER / "empty.conf").write_text("# Nobody.\n")
    (FOLDER / "empty.conf").chmod(0o600)
    (FOLDER / "folder").mkdir(mode=0o700)
    for name, reason, *options in (
            ("none", "No such file", "--broker", "mqtts://127.0.0.1", "--node", "x", "--ca", FOLDER / "none.pem"),
            ("empty", "user = NAME", "--broker", "mqtt://127.0.0.1", "--node", "x", "--credentials", FOLDER / "empty.conf"),
            ("hostile", r"\u{1B}[2J: No such", "--broker", "mqtt://127.0.0.1", "--node", "x", "--credentials", "/none/\x1b[2J"),
            ("folder", "Is a directory", "--broker", "mqtt://127.0.0.1", "--node", "x", "--credentials", FOLDER / "folder"),
            ("late", "from 10ms to 5s", "--broker", "mqtt://127.0.0.1", "--follow", "a/b", "--as", "b", "--play-out", "5.1s"),
            ("far", "1 to 65535", "--broker", "mqtt://127.0.0.1", "--follow", "a/b", "--viewsync", "127.0.0.1:70000")):
        wrong = Process(f"wrong-{name}", BIN / "gimbal-mqtt", *options)
        check(wrong.process.wait(PATIENCE) in (64, 71) and wrong.said(reason), f"{name}: {wrong.log.read_text()}")
    try_status()
    for process in (node, broker, guide):
        process.end()


def try_step():
    """Eight mirrors with a play-out that is long enough for a busy machine, behind slow relays and with drifting
    clocks."""
    if not WallClock.can_be_wrong():
        print("fleet: clocks that drift: skipped: faketime is not installed")
    told = measure("step", 1500, 12, drifts=True)
    check(told["there"], f"mirrors with a play-out follow and rest where their source does: {told}")
    check(told["asked"] > 30 and told["places"] > 20, f"they move meanwhile: {told}")
    # One answer in a thousand may differ, where this machine delays it: there are about a thousand.
    check(told["asked"] - told["near"] <= 1, f"they are at most 0.1 points apart at one time: {told}")
    check(told["same"] >= told["asked"] * 0.99, f"and show the same digits for it: {told}")
    [screen] = told["screens"]
    check(
        (screen["node"], screen["camera"], screen["late"]) == ("screen", "copy", 0) and 0 <= screen.get("leadMs", 0) <= 1510,
        f"the source's daemon tells how far ahead positions reach a screen: {told}")
    print(f"step: {told}", file=sys.stderr)


def try_motions():
    """The same eight follow tours as motions: a ninth joins during one, and the broker is killed during another."""
    told = measure_motions("motions", 1000, 2)
    check(told["there"] and told["asked"] > 100 and told["places"] > 100, f"mirrors follow tours that are told as motions: {told}")
    check(len(told["joined"]) == 1 and told["joined"][0][1], f"and one that comes in the middle of a tour is in step before its end: {told}")
    check(told["same"] == told["asked"], f"and all show the same digits for one time, without a broker too: {told}")
    print(f"motions: {told}", file=sys.stderr)


def try_status():
    """The output of `--status` about the clock of this machine, whatever keeps it."""
    told = subprocess.run([BIN / "gimbal-mqtt", "--status"], capture_output=True, text=True)
    # Where a sandbox denies the program the system call, it says so.
    is_refused = told.returncode == 71 and "adjtimex" in told.stderr
    said = re.fullmatch(r"This machine's clock is (not )?synchronized.*, according to (chronyd|the kernel)\.\n", told.stdout)
    check(is_refused or said and told.returncode == (1 if said[1] else 0), f"the clock: {told}")


def chronyd_of_debian():
    """Returns Debian's chronyd. It is unpacked, not installed, which would change this machine's time service. `None` if
    unavailable."""
    folder = FOLDER / "chrony"
    folder.mkdir()
    # apt wants a folder that another user may write to.
    folder.chmod(0o777)
    if subprocess.run(["apt-get", "download", "chrony"], cwd=folder, capture_output=True).returncode != 0:
        return None
    run("dpkg", "-x", *folder.glob("*.deb"), folder)
    return folder / "usr/sbin/chronyd"


def try_chronyd():
    """What `--status` and bridges say with a real chronyd that trusts its own clock, and with one that gets its time from
    it, with a delay of 20 ms between the machines in each direction. Neither may touch this machine's clock, so the
    kernel says the same on all of them."""
    if why := can_make_machines():
        print(f"fleet: a real chronyd: skipped: {why}")
        return
    if not (program := chronyd_of_debian()):
        print("fleet: a real chronyd: skipped: apt has no chrony")
        return
    delay = 0.02
    keeper, kept, port = Machine("keeper"), Machine("kept", delay), free_port()

    def chronyd(name, machine, *settings):
        (FOLDER / f"{name}.conf").write_text("\n".join([*settings, f"pidfile {FOLDER}/{name}.pid", "bindcmdaddress /"]))
        return Process(name, program, "-d", "-x", "-u", "root", "-f", FOLDER / f"{name}.conf", machine=machine)

    def status(machine):
        told = subprocess.run(
            ["ip", "netns", "exec", machine.name, BIN / "gimbal-mqtt", "--status"], capture_output=True, text=True)
        return told.returncode, told.stdout

    def clocks(node):
        return [json.loads(told.payload).get("clock", {}) for told in judge.of(f"gimbal/{node}/$state")]

    broker, broker_port = open_mosquitto("chronyd-broker")
    judge = Client("127.0.0.1", broker_port)
    judge.subscribe("gimbal/+/$state")
    daemon = Daemon("chronyd-daemon")
    source = chronyd("source", None, "local", "allow all", f"port {port}", "cmdport 0")
    own = chronyd("own", keeper, "local", "port 0", "cmdport 323")
    follower = chronyd(
        "follower", kept, f"server {kept.router} port {port} iburst minpoll -4 maxpoll -4", "port 0", "cmdport 323")
    nodes = [
        bridge(f"{name}-node", daemon, "--node", name, port=broker_port, machine=machine)
        for name, machine in (("keeper", keeper), ("kept", kept))]
    until("a chronyd with its own clock alone is not synchronized",
          lambda: status(keeper) == (1, "This machine's clock is not synchronized, according to chronyd.\n"))
    # The round trip is twice the delay, and half of it may be an error.
    synchronized = r"This machine's clock is synchronized, off by at most ([0-9.]+) ms, according to chronyd\.\n"
    until("one that has its time from another is, but for what the wire may hide",
          lambda: (told := status(kept))[0] == 0 and (error := re.match(synchronized, told[1]))
          and delay * 1000 <= float(error[1]) < delay * 1000 + 30)
    # They publish it anew every 15 s.
    until("bridges tell the same",
          lambda: clocks("keeper")[-1:] == [{"synchronized": False}]
          and any(delay * 1000 <= clock.get("errorMs", 0) < delay * 1000 + 30 for clock in clocks("kept")), 60)
    follower.end()
    told_before = len(clocks("kept"))
    until("and without chronyd, what the kernel says, if they may ask it",
          lambda: "chronyd" not in (told := status(kept))[1] and len(clocks("kept")) > told_before
          and clocks("kept")[-1].get("synchronized", False) == (told[0] == 0))
    judge.end()
    for process in (*nodes, source, own, broker, daemon):
        process.end()


PARTS = {
    "mosquitto": try_mosquitto, "wall": try_wall, "clocks": try_clocks, "cluster": try_cluster, "circles": try_circles, "limits": try_limits,
    "step": try_step, "motions": try_motions, "chronyd": try_chronyd}


def try_part(name):
    """Runs one part in its own process; its last line has the counts."""
    start = time.monotonic()
    try:
        PARTS[name]()
    finally:
        clean_up(tells=failed > 0)
    print(f"{name}: {time.monotonic() - start:.0f} s", file=sys.stderr)
    print(checks, failed)


def main():
    """Runs the parts concurrently: they wait most of the time."""
    if sys.argv[2:3] == ["part"]:
        return try_part(sys.argv[3])
    if not (BIN / "gimbal-mqtt").exists():
        print("fleet: FAILED: gimbal-mqtt is not built: make mqtt")
        return 1
    clean_up()
    parts = [
        (name, subprocess.Popen(
            [sys.executable, __file__, sys.argv[1], "part", name], stdout=subprocess.PIPE, text=True,
            env={**os.environ, "FLEET_PART": str(list(PARTS).index(name))}))
        for name in sys.argv[2:] or PARTS]
    total = wrong = 0
    for name, part in parts:
        *lines, counts = (part.communicate()[0].rstrip("\n") or f"fleet: {name} FAILED").split("\n")
        for line in lines:
            print(line)
        if part.returncode != 0:
            print(f"fleet: FAILED: {name} did not come to its end: {counts}")
            counts = "1 1"
        total, wrong = (before + int(more) for before, more in zip((total, wrong), counts.split()))
    if wrong:
        print(f"fleet: {wrong} of {total} checks FAILED")
        return 1
    print(f"fleet: {total} checks passed")
    return 0


sys.exit(main())
