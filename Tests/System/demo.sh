#!/bin/sh
# The demo: starts a daemon on its own socket, plays a sample trace, and shows what its camera did. Whatever happens,
# the daemon is stopped and its folder removed.
set -eu
cd "$(dirname "$0")/../.."
bin=${SCRATCH:-.build}/release
trace=Protocols/examples/traces/pinch-and-rotate.ndjson

folder=$(mktemp -d)
daemon=
clean_up() {
    [ -z "$daemon" ] || { kill "$daemon" 2>/dev/null && wait "$daemon" || true; }
    rm -rf "$folder"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

export GIMBAL_SOCKET="$folder/gimbal.sock"
"$bin/gimbald" --socket "$GIMBAL_SOCKET" 2>"$folder/log" &
daemon=$!
tries=0
# Its socket is there a moment before it listens.
until "$bin/gimbal" stats >/dev/null 2>&1; do
    tries=$((tries + 1))
    if [ $tries -gt 100 ] || ! kill -0 "$daemon" 2>/dev/null; then
        cat "$folder/log" >&2
        echo 'demo: the daemon did not start' >&2
        exit 1
    fi
    sleep 0.05
done

# Prints the first and the last of many events, a row for each, and the summary.
show() {
    awk -v shown=5 '
        function field(name) {
            if (!match($0, "\"" name "\":(\"[^\"]*\"|[-0-9.]+)")) return ""
            text = substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3)
            gsub("\"", "", text)
            return text
        }
        function place() {
            bearing = sprintf("%.1f", field("bearing"))
            if (bearing == "360.0") bearing = "0.0"
            return sprintf("%.6f, %.6f  zoom %.3f  bearing %5s  angle %4.1f", field("latitude"), field("longitude"),
                field("zoom"), bearing, field("viewingAngle"))
        }
        /^status / { status = $2; next }
        field("type") == "trace-ended" {
            summary = sprintf("%d lines taken, %d rejected; %d frames in %.3f s", field("events"), field("rejected"),
                field("frames"), field("durationMs") / 1000)
            ended = field("rejected") == 0
            next
        }
        {
            row = sprintf("%8.3f s  %-14s  %s", field("timeMs") / 1000, field("type"), place())
            if (++count <= shown) { print row; fflush() } else last[count] = row
        }
        END {
            if (count > 2 * shown) printf "%8s    %d more\n", "...", count - 2 * shown
            for (i = (count > 2 * shown ? count - shown : shown) + 1; i <= count; i++) print last[i]
            print summary
            exit status != 0 || !ended
        }
    '
}

echo "gimbal replay --follow $trace"
{ timeout 60 "$bin/gimbal" replay --follow "$trace" || echo "status $?"; } | show
