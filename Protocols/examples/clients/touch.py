#!/usr/bin/env python3
"""Drags two fingers apart on a surface by sending only their positions; gimbald recognizes the pinch.

Prints the zoom before and after it. Needs only Python 3. The daemon's socket is the argument, else GIMBAL_SOCKET, else
the system's.
"""

import json
import os
import socket
import sys

path = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("GIMBAL_SOCKET", "/run/gimbal/gimbal.sock")
with socket.socket(socket.AF_UNIX) as connection:
    try:
        connection.connect(path)
    except OSError as error:
        sys.exit(f"touch.py: {path}: {error.strerror}")
    answers = connection.makefile("rb")

    def ask(**request):
        connection.sendall(json.dumps({"id": 1, **request}).encode() + b"\n")
        answer = json.loads(answers.readline())
        return answer if answer["type"] != "error" else sys.exit(f"touch.py: {answer['message']}")

    print(ask(type="get-camera")["position"]["zoom"])
    for step in range(21):
        fingers = [{"id": 1, "x": 195, "y": 372 - step * 10}, {"id": 2, "x": 195, "y": 472 + step * 10}]
        ask(type="touch", surface="touch.py", timeMs=step * 16, touches=fingers)
    ask(type="touch", surface="touch.py", timeMs=336, touches=[])
    print(ask(type="await-idle")["position"]["zoom"])
