#!/usr/bin/env bash
# The sample traces: their generator still writes these bytes, every line matches the schema, and the daemon accepts all
# of them. Prints failures, and a last line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=support/container.sh
source Tests/System/support/container.sh
bin=${SCRATCH:-.build}/release
traces=Protocols/examples/traces

fail() { printf 'traces: FAILED: %s\n' "$*" && exit 1; }

begin_folder

mkdir "$folder/traces"
$python $traces/generate.py "$folder/traces"
diff -qr --exclude='*.py' $traces "$folder/traces" || fail 'generate.py writes other traces'

$python - $traces/*.ndjson <<'PYTHON' || fail 'a line is not in the schema'
import json, sys
from jsonschema import Draft202012Validator

with open("Protocols/gimbal.schema.json") as file:
    schema = json.load(file)
line_schema = {"$schema": schema["$schema"], "$ref": "#/$defs/clientLine", "$defs": schema["$defs"]}
validator = Draft202012Validator(line_schema)
for name in sys.argv[1:]:
    with open(name) as file:
        for number, line in enumerate(file, 1):
            for error in validator.iter_errors(json.loads(line)):
                sys.exit(f"{name}:{number}: {error.message}")
PYTHON

"$bin/gimbald" --socket "$folder/gimbal.sock" 2>"$folder/log" &
processes+=($!)
within 20 grep -qs ' is ready: ' "$folder/log" || fail "$(cat "$folder/log")"

count=0
for trace in "$traces"/*.ndjson; do
    lines=$(($(wc -l <"$trace") - 2)) # but the header and the end
    answer=$(timeout 20 "$bin/gimbal" replay --socket "$folder/gimbal.sock" --speed max "$trace" 2>&1) || true
    [[ $answer == '{"type":"trace-ended",'*"\"events\":$lines,\"rejected\":0,"* ]] || fail "$trace: $answer"
    count=$((count + 1))
done
echo "traces: $count traces passed"
