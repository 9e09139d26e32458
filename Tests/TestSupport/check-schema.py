#!/usr/bin/env python3
"""Reads lines from standard input and validates each against a definition of the schema: client lines or server lines.

Prints the errors of at most ten of them. Exit status: 0 all valid, 1 some not.
"""
import json
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("there is no python3-jsonschema: `make deps-test` installs it")
    sys.exit(1)

schema = json.load(open(sys.argv[1]))
direction = sys.argv[2]
Draft202012Validator.check_schema(schema)
validators = {}


def validator(name):
    """Returns a validator of one definition. A message uses its type's, which the line's definition would select."""
    if name not in validators:
        target = {"$schema": schema["$schema"], "$defs": schema["$defs"], "$ref": f"#/$defs/{name}"}
        validators[name] = Draft202012Validator(target)
    return validators[name]


complaints = 0
for number, line in enumerate(sys.stdin, 1):
    if not line.strip():
        continue
    value = json.loads(line)
    name = f"{direction}Line"
    if isinstance(value, dict) and f"{direction}.{value.get('type')}" in schema["$defs"]:
        name = f"{direction}.{value['type']}"
    for error in validator(name).iter_errors(value):
        complaints += 1
        if complaints <= 10:
            print(f"line {number}: {error.json_path}: {error.message}: {line.strip()[:300]}")
        break
sys.exit(1 if complaints else 0)
