#!/usr/bin/env python3
"""Drags two fingers apart on a surface by sending only their positions; gimbald recognizes the pinch.

Prints the zoom before and after it. Needs only Python 3, and GIMBAL_SOCKET or the path of the daemon's socket.
"""

import json
import os
import socket
import sys

with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(sys.argv[1] if len(sys.argv) > 1 else os.environ["GIMBAL_SOCKET"])
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
