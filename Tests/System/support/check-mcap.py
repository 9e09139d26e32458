#!/usr/bin/python3
"""Reads an MCAP file with the reader of the format's makers, and compares it with the output of `gimbal run`.

   check-mcap.py FILE.mcap EVENTS.ndjson
"""
import json
import sys

import jsonschema
from mcap.reader import NonSeekingReader, SeekingReader

path, printed = sys.argv[1:]
events = [line for line in open(printed) if json.loads(line)["type"] != "trace-ended"]
protocol = json.load(open("Protocols/gimbal.schema.json"))


def validate(event):
    reference = {"$ref": f"#/$defs/server.{event['type']}"}
    jsonschema.Draft202012Validator({**reference, "$defs": protocol["$defs"]}).validate(event)


def read(reader):
    with open(path, "rb") as file:
        return [(schema.name, schema.encoding, schema.data, channel.topic, message.log_time, message.data)
                for schema, channel, message in
                reader(file, validate_crcs=True).iter_messages(log_time_order=False)]


messages = read(SeekingReader)
assert messages == read(NonSeekingReader), "the two readers differ"
with open(path, "rb") as file:
    reader = SeekingReader(file, validate_crcs=True)
    summary = reader.get_summary()
    assert summary.statistics.message_count == len(messages)
    assert summary.chunk_indexes and len(summary.channels) == summary.statistics.channel_count
    assert reader.get_header().library == "gimbal"
    # By the index: one topic, and part of the time.
    topic, middle = messages[0][3], messages[len(messages) // 2][4]
    part = [m.log_time for _, _, m in reader.iter_messages(topics=[topic], starting_at=middle)]
    assert part == [m[4] for m in messages if m[3] == topic and m[4] >= middle], "the index leads elsewhere"

times = [message[4] for message in messages]
assert times == sorted(times), "time goes back"
lines, last = [], {}
for name, encoding, schema, topic, time, data in messages:
    assert encoding == "jsonschema"
    schema = json.loads(schema)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["title"] == name
    value = json.loads(data)
    jsonschema.validate(value, schema)
    camera = topic.split("/")[1]
    if name == "gimbal.CameraEvent":
        validate(value)
        for member, about in schema["properties"].items():
            assert member == "reason" or member in value
        lines.append(data.decode() + "\n")
        if value["type"] in ("reset", "camera-changed"):
            last[camera] = (value["position"], time)
    elif name == "foxglove.LocationFix":
        position, then = last[camera]
        assert (value["latitude"], value["longitude"]) == tuple(position["target"].values()) and then == time
        assert value["timestamp"] == {"sec": time // 10**9, "nsec": time % 10**9} and value["frame_id"] == camera
    else:
        assert name == "foxglove.GeoJSON"
        feature = json.loads(value["geojson"])
        (ring,) = feature["geometry"]["coordinates"]
        target = last[camera][0]["target"]
        assert len(ring) == 5 and ring[0] == ring[4]
        assert min(y for _, y in ring) <= target["latitude"] <= max(y for _, y in ring)
        assert min(x for x, _ in ring) <= target["longitude"] <= max(x for x, _ in ring)
assert lines == events, "the events are not those that were printed"
print(f"{len(messages)} messages")
