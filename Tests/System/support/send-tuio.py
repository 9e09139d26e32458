#!/usr/bin/python3
"""Sends TUIO fingers with python-osc: two that spread to four times their distance, with losses and reordering.

   send-tuio.py PORT VERSION SOURCE [lift|stay|garbage]
"""
import random
import socket
import sys
import time

from pythonosc.osc_bundle_builder import IMMEDIATELY, OscBundleBuilder
from pythonosc.osc_message_builder import OscMessageBuilder

port, version, source, end = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
wire = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
wire.connect(("127.0.0.1", port))
random.seed(source)


def message(address, *arguments, types=None):
    builder = OscMessageBuilder(address)
    for index, argument in enumerate(arguments):
        builder.add_arg(argument, types[index] if types else None)
    return builder.build()


def bundle(messages):
    builder = OscBundleBuilder(IMMEDIATELY)
    for part in messages:
        builder.add_content(part)
    return builder.build().dgram


def frame1(number, fingers):
    profile = "/tuio/2Dcur"
    return bundle(
        [message(profile, "source", source), message(profile, "alive", *fingers)]
        + [message(profile, "set", id, x, y, 0.0, 0.0, 0.0) for id, (x, y) in fingers.items()]
        + [message(profile, "fseq", number)])


def frame2(number, fingers):
    # python-osc's arguments cannot be time tags: a 64-bit integer has the same form.
    begin = message("/tuio2/frm", number, (1_900_000_000 << 32) + (number * 10 << 32) // 1000, 0, source, types="ihis")
    return bundle(
        [begin] + [message("/tuio2/ptr", id, 0, 0, x, y, 0.0, 0.0, 0.0, 0.0) for id, (x, y) in fingers.items()]
        + [message("/tuio2/alv", *fingers)]).replace(b",ihis", b",itis")


frame = frame1 if version == "1" else frame2
frames = [frame(1, {})]
for step in range(61):
    half = 0.05 + 0.15 * step / 60
    frames.append(frame(len(frames) + 1, {11: (0.5 - half, 0.5), 12: (0.5 + half, 0.5)}))
settled = len(frames)
if end != "stay":
    frames += [frame(settled + 1, {}), frame(settled + 2, {})]
order = list(range(len(frames)))
for index in range(5, settled - 5):
    if random.random() < 0.2:
        order[index], order[index + 1] = order[index + 1], order[index]
for index in order:
    if 5 <= index < settled - 1 and random.random() < 0.2:
        continue
    if end == "garbage" and index % 7 == 0:
        wire.send(bytes(random.randrange(256) for _ in range(random.randrange(200))))
    wire.send(frames[index])
    time.sleep(0.01)
