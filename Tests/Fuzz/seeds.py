#!/usr/bin/env python3
"""Writes the fuzzers' seeds: the conformance cases as conversations, the examples of the protocol, and the recordings
beside this file, in a folder for each fuzzer; and the words of the protocol as a dictionary.

usage: seeds.py FOLDER
"""

import json
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).parent
PROTOCOLS = HERE.parent.parent / "Protocols"
# FuzzHub's control bytes.
TURN, HALF_CLOSE, CLOSE, NEXT_DEADLINE, FIRST_CLIENT = 0x01, 0x02, 0x03, 0x0B, 0x10


def sent(step):
    """Returns what a step sends, or None. The longest lines are left to unit tests: fuzzers are fast with short
    ones."""
    if "send" in step:
        value = step["send"]
        return (value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))) + "\n"
    return step.get("sendBytes")


def conversation(case):
    """Returns a case as FuzzHub's control bytes and data."""
    out, peers = bytearray(), []
    for step in case["steps"]:
        peer = step.get("peer", "a")
        if peer not in peers:
            peers.append(peer)
        out.append(FIRST_CLIENT + peers.index(peer) % 4)
        if (text := sent(step)) is not None:
            out += text.encode() + bytes([TURN])
        elif "halfClose" in step:
            out.append(HALF_CLOSE)
        elif "close" in step:
            out.append(CLOSE)
        else:
            out.append(NEXT_DEADLINE)
    return bytes(out)


def client_lines(case):
    return "".join(sent(step) or "" for step in case["steps"]).encode()


def server_lines():
    """Returns the lines of a daemon in the protocol's examples."""
    lines, fence = [], None
    for line in (PROTOCOLS / "README.md").read_text().splitlines():
        if line.startswith("```"):
            fence = line[3:] if fence is None else None
        elif fence == "json server" and line:
            lines.append(line.encode())
    return lines


def words():
    """Returns the names of all members in the schema, and the values that are words, as a dictionary."""
    found = set()

    def visit(schema):
        if isinstance(schema, dict):
            for name, value in schema.get("properties", {}).items():
                found.add(json.dumps(name) + ":")
                if isinstance(value, dict) and "const" in value:
                    found.add(json.dumps(name) + ":" + json.dumps(value["const"]))
            found.update(json.dumps(word) for word in schema.get("enum", []))
            schema = list(schema.values())
        if isinstance(schema, list):
            for part in schema:
                visit(part)

    visit(json.loads((PROTOCOLS / "gimbal.schema.json").read_text()))
    return "".join(json.dumps(word) + "\n" for word in sorted(found))


def osc(address, *arguments):
    """Returns an Open Sound Control message."""

    def padded(text):
        return text.encode() + bytes(4 - len(text.encode()) % 4)

    tags, data = ",", b""
    for argument in arguments:
        kind = {str: "s", int: "i", float: "f", bytes: "t"}[type(argument)]
        tags += kind
        data += {"s": padded, "t": bytes}.get(kind, lambda value: struct.pack(">" + kind, value))(argument)
    return padded(address) + padded(tags) + data


def datagrams(*frames):
    """Returns frames, each a list of messages, as FuzzTUIO's datagrams, 54 ms apart."""
    out = b""
    for frame in frames:
        bundle = b"#bundle\0" + bytes(7) + b"\1" + b"".join(struct.pack(">i", len(part)) + part for part in frame)
        out += bytes([2, 2, len(bundle) // 4]) + bundle
    return out


def tuio():
    """Returns two fingers that land and move, one of which lifts, in both versions."""
    first, second = [], []
    for number, ids in enumerate([(1,), (1, 2), (1, 2), (2,), ()], 1):
        places = {finger: (finger / 4, number / 8) for finger in ids}
        first.append(
            [osc("/tuio/2Dcur", "source", "table"), osc("/tuio/2Dcur", "alive", *ids)]
            + [osc("/tuio/2Dcur", "set", finger, x, y, 0.0, 0.0, 0.0) for finger, (x, y) in places.items()]
            + [osc("/tuio/2Dcur", "fseq", number)]
        )
        second.append(
            [osc("/tuio2/frm", number, struct.pack(">II", number, 0), 0, "table")]
            + [osc("/tuio2/ptr", finger, 0, 0, x, y, 0.0) for finger, (x, y) in places.items()]
            + [osc("/tuio2/alv", *ids)]
        )
    return {"1.1": datagrams(*first), "2.0": datagrams(*second)}


def main(folder):
    cases = [
        (f"{file.stem}-{case['name']}", case)
        for file in sorted(PROTOCOLS.glob("conformance/*.json"))
        for case in json.loads(file.read_text())["cases"]
    ]
    recordings = {file.name: file.read_bytes() for file in sorted((HERE / "Recordings").iterdir())}
    tours = {file.name: file.read_bytes() for file in sorted((PROTOCOLS / "examples/tours").iterdir())}
    tours["line.json"] = b'{"type":"Feature","properties":{"name":"a"},"geometry":{"type":"LineString","coordinates":[[1,2],[3,4]]}}'
    seeds = {
        "FuzzDecoder": {name: client_lines(case) for name, case in cases},
        "FuzzHub": {name: conversation(case) for name, case in cases},
        "FuzzTraces": recordings,
        "FuzzDevice": recordings,
        "FuzzTours": tours,
        "FuzzClient": {str(number): line for number, line in enumerate(server_lines())},
        "FuzzTUIO": tuio(),
    }
    for fuzzer, files in seeds.items():
        place = folder / fuzzer
        place.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (place / name).write_bytes(data)
    (folder / "words.dict").write_text(words())


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
