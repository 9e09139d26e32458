"""Headless Firefox, controlled by WebDriver BiDi over its own WebSocket, without a driver."""

import json
import re
import socket
import subprocess
import threading
from itertools import count

from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, Request, TextMessage
from wsproto.utilities import RemoteProtocolError

PATHS = ["/usr/bin/firefox-esr", "/usr/bin/firefox"]


class Firefox:
    def __init__(self, program, profile, patience):
        profile.mkdir()
        # Prevents requests to other servers.
        (profile / "user.js").write_text("".join(
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in {
                "app.update.enabled": False, "browser.shell.checkDefaultBrowser": False, "network.captive-portal-service.enabled": False,
                "network.connectivity-service.enabled": False, "datareporting.policy.dataSubmissionEnabled": False,
                "services.settings.server": "data:,#remote-settings-dummy/v1", "browser.safebrowsing.malware.enabled": False,
                "browser.safebrowsing.phishing.enabled": False, "extensions.update.enabled": False,
            }.items()), encoding="utf-8")
        self.process = subprocess.Popen(
            [program, "--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", profile, "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            found = re.search(r"WebDriver BiDi listening on ws://127\.0\.0\.1:(\d+)", line)
            if found:
                break
        else:
            raise RuntimeError("Firefox has ended")
        # Drains the rest of its output, unread.
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.ids, self.events = count(1), []
        self.socket = socket.create_connection(("127.0.0.1", int(found[1])), patience)
        self.web = WSConnection(ConnectionType.CLIENT)
        self.socket.sendall(self.web.send(Request(host=f"127.0.0.1:{found[1]}", target="/session")))
        self.texts = []
        while not self.texts or self.texts.pop(0) is not AcceptConnection:
            self.receive()
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])
        self.context = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def receive(self):
        data = self.socket.recv(65536)
        if not data:
            raise RemoteProtocolError("Firefox has closed the connection")
        self.web.receive_data(data)
        for event in self.web.events():
            if isinstance(event, AcceptConnection):
                self.texts.append(AcceptConnection)
            elif isinstance(event, TextMessage):
                self.part = getattr(self, "part", "") + event.data
                if event.message_finished:
                    self.texts.append(self.part)
                    self.part = ""

    def ask(self, method, **parameters):
        number = next(self.ids)
        message = json.dumps({"id": number, "method": method, "params": parameters})
        self.socket.sendall(self.web.send(TextMessage(data=message)))
        while True:
            while not self.texts:
                self.receive()
            answer = json.loads(self.texts.pop(0))
            if answer.get("id") == number:
                if answer["type"] == "error":
                    raise RuntimeError(f"{method}: {answer['message']}")
                return answer["result"]
            if answer["type"] == "event":
                self.events.append(answer)

    def open(self, address, width, height):
        self.ask("browsingContext.setViewport", context=self.context, viewport={"width": width, "height": height})
        self.ask("browsingContext.navigate", context=self.context, url=address, wait="complete")

    def run(self, expression):
        """Returns the value of an expression that JSON can represent."""
        answer = self.ask("script.evaluate", expression=f"(async () => JSON.stringify(await ({expression}) ?? null))()",
                          target={"context": self.context}, awaitPromise=True)
        if answer["type"] == "exception":
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']['text']}")
        return json.loads(answer["result"]["value"])

    def touch(self, *paths):
        """Fingers that land, move along points of the page, and lift."""
        def pointer(number, path):
            (x, y), *rest = path
            actions = [{"type": "pointerMove", "x": x, "y": y, "duration": 0}, {"type": "pointerDown", "button": 0}]
            actions += [{"type": "pointerMove", "x": x, "y": y, "duration": 16} for x, y in rest]
            return {"type": "pointer", "id": f"finger{number}", "parameters": {"pointerType": "touch"},
                    "actions": actions + [{"type": "pointerUp", "button": 0}]}
        self.ask("input.performActions", context=self.context,
                 actions=[pointer(number, path) for number, path in enumerate(paths)])

    @property
    def complaints(self):
        return [event["params"]["text"] for event in self.events
                if event["method"] == "log.entryAdded" and event["params"]["level"] in ("error", "warn")]

    def screenshot(self):
        return self.ask("browsingContext.captureScreenshot", context=self.context)["data"]

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait()
