#!/bin/bash
# Sends requests from standard input to gimbald, one line of JSON each, and prints where its camera is after each:
# latitude, longitude, zoom, bearing and viewing angle. Ends with status 1 at the first that is refused, with that of jq
# at a line that is no JSON. Needs socat and jq.
#
#   feed.sh <<<'{"type":"move","update":{"kind":"zoom-to","zoom":12}}'
set -o pipefail

socket=${1:-${GIMBAL_SOCKET:-${XDG_RUNTIME_DIR:-/tmp/gimbal-$(id -u)}/gimbal.sock}}
# Any user could have made a folder below /tmp and put their own daemon there.
if [[ $socket == /tmp/gimbal-$(id -u)/gimbal.sock && -e ${socket%/*} && ! -O ${socket%/*} ]]; then
    echo "feed.sh: ${socket%/*} belongs to another user" >&2
    exit 1
fi

# A frame is an array; its first request names the camera.
ask='., {type: "get-camera"} + ([.] | flatten[0] | {camera} | with_entries(select(.value)))'
show='if .type == "camera" then .position | [.target[], .zoom, .bearing, .viewingAngle] | map(tostring) | join(" ")
    elif .type == "error" then "error: line \((.line + 1) / 2 | floor): \(.message)"
    else empty end'

jq --compact-output --unbuffered "$ask" | socat -t 10 - "UNIX-CONNECT:$socket" | jq --raw-output --unbuffered "$show" |
    while IFS= read -r line; do
        case $line in
        error*)
            echo "feed.sh: $line" >&2
            exit 1
            ;;
        *) echo "$line" ;;
        esac
    done
