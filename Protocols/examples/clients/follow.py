#!/usr/bin/env python3
"""Follows a camera of gimbald: prints latitude, longitude, zoom, bearing and viewing angle whenever it has moved.
With the camera "*" it follows all of them, also those that are made later, and prints the name in front.

When the daemon goes away it comes back, and asks for what it missed. Needs nothing but Python 3.
"""

import argparse
import json
import os
import signal
import socket
import sys
import time


def standard_path():
    folder = os.environ.get("XDG_RUNTIME_DIR")
    if not folder and "GIMBAL_SOCKET" not in os.environ:
        folder = f"/tmp/gimbal-{os.getuid()}"
        # Any user could have made it and put their own daemon there.
        if os.path.lexists(folder) and os.lstat(folder).st_uid != os.getuid():
            sys.exit(f"follow.py: {folder} belongs to another user")
    return os.environ.get("GIMBAL_SOCKET") or f"{folder}/gimbal.sock"


def messages(path, request):
    """Connects, sends a request, and gives the daemon's messages up to the last whole line."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(json.dumps(request).encode() + b"\n")
        for line in connection.makefile("rb"):
            if line.endswith(b"\n"):
                yield json.loads(line)


def events(path, camera):
    """The events of a camera, or of all, over as many connections as it takes."""
    request = {"type": "subscribe", "camera": camera, "events": ["camera-changed"]}
    read = {}  # camera: how far, as `since` wants it
    is_answered = False
    while True:
        if camera == "*":
            request["since"] = list(read.values())
        else:
            request |= {("since" if key == "seq" else key): value for key, value in read.get(camera, {}).items()}
        try:
            for message in messages(path, request):
                is_answered = True
                name = message.get("camera")
                if message["type"] in ("subscribed", "reset", "lagged") and name != "*":
                    # In the same epoch, what was missed is still to come.
                    if message["type"] != "subscribed" or message["epoch"] != read.get(name, {}).get("epoch"):
                        read[name] = {key: message[key] for key in ("camera", "seq", "epoch")}
                elif message["type"] == "camera-changed":
                    read[name]["seq"] = message["seq"]
                elif message["type"] == "removed":
                    read.pop(name, None)
                yield message
        except OSError as error:
            if not is_answered:
                sys.exit(f"follow.py: {path}: {error.strerror}")
        time.sleep(0.2)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("camera", nargs="?", default="main", help="its name, or * for all of them")
    parser.add_argument("--socket", default=standard_path(), help="the daemon's socket")
    parser.add_argument("--count", type=int, help="end after so many positions")
    options = parser.parse_args()
    # ^C, or a reader that has seen enough, is not an error.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    printed = 0
    for message in events(options.socket, options.camera):
        if message["type"] == "camera-changed":
            position = message["position"]
            numbers = *position["target"].values(), position["zoom"], position["bearing"], position["viewingAngle"]
            print(*([message["camera"]] if options.camera == "*" else []), *numbers, flush=True)
            printed += 1
            if printed == options.count:
                return
        elif message["type"] == "lagged":
            print(f"follow.py: {message['missed']} events of {message['camera']} missed", file=sys.stderr)
        elif message["type"] == "error" or message["type"] == "removed" and options.camera != "*":
            sys.exit(f"follow.py: {message.get('message', 'the camera was removed')}")


main()
