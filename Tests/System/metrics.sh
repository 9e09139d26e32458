#!/usr/bin/env bash
# Metrics: promtool and the parser of Prometheus' own client accept them, each counter of `stats` is one of them, and a
# real Prometheus reads them from gimbal-web with the example configuration and answers each query of the dashboard.
# Prints failures, and a last line.
set -euo pipefail
# shellcheck disable=SC2034 # The shared functions have it.
name=metrics
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=support/container.sh
source Tests/System/support/container.sh
programs=$(realpath "${SCRATCH:-.build}")/debug
examples=Protocols/examples/metrics
for program in prometheus promtool jq systemd-socket-activate; do
    command -v $program >/dev/null || { echo "metrics: skipped: there is no $program" && exit; }
done

begin_folder

export GIMBAL_SOCKET=$folder/gimbal.sock
gimbal() { "$programs/gimbal" "$@"; }
begin daemon "$programs/gimbald" --socket "$GIMBAL_SOCKET"
within 60 grep -qs ' is ready: ' "$folder/daemon.errors"
gimbal move --zoom 5 >/dev/null
gimbal move --zoom 6 --camera left >/dev/null
# The first connection starts the page's server by the command of its unit, in which a shell replaces variables as systemd
# does. The port is below those that the system gives to others.
port=$((20000 + $$ % 10000))
# shellcheck disable=SC2034 # The unit's command has them.
STATE_DIRECTORY=$folder GIMBAL_WEB_OPTIONS="--metrics-token $folder/token"
page=$(sed -n 's|^ExecStart=/usr/bin/||p' systemd/gimbal-web.service)
eval "begin page systemd-socket-activate --listen 127.0.0.1:$port $programs/${page/\/run\/gimbal\/gimbal.sock/$GIMBAL_SOCKET}"
within 60 grep -qs 'Listening on' "$folder/page.errors"
: <>"/dev/tcp/127.0.0.1/$port"
within 60 grep -qs "http://127.0.0.1:$port/" "$folder/page"
# The page's server tells its link before it has connected to the daemon.
are_connected() { [ "$(gimbal stats --json | jq .connections)" = "$1" ]; }
within 60 are_connected 2

# promtool knows Prometheus' older format: the page says how to make that.
older() { eval "$(sed -n "s/^ *\(awk '.*'\) |$/\1/p" Protocols/page.md)"; }
is_right() { older <"$folder/text" >"$folder/older" && [ -s "$folder/older" ] && promtool check metrics <"$folder/older"; }
is_read() { /usr/bin/python3 -c '
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as families
print(len(list(families(sys.stdin.read()))))' <"$folder/text"; }
has_all() { [ "$(grep -c '^gimbal_[a-z_]* ' "$folder/text")" = "$(gimbal stats --json | jq 'del(.type) | length')" ]; }
gimbal stats --openmetrics >"$folder/text"
check 'promtool finds nothing wrong' is_right
check "it finds what is wrong" bash -c "! echo 'gimbal_lines{ 1' | promtool check metrics"
if /usr/bin/python3 -c 'import prometheus_client' 2>/dev/null; then
    check 'the text is OpenMetrics' is_read
else
    echo 'metrics: skipped: reading OpenMetrics: there is no prometheus_client'
fi
check 'each counter of the daemon is a metric' has_all
check 'each camera has its events' grep -qx 'gimbal_camera_events_total{camera="left"} 3' "$folder/text"
check 'each user has connections' grep -qx "gimbal_user_connections{user=\"$(id -u)\"} 2" "$folder/text"

# As an administrator would use it, except for paths, addresses and the interval.
sed -e "s|/etc/prometheus/gimbal-token|$folder/token|" -e "s|127.0.0.1:7480|127.0.0.1:$port|" -e 's|: 15s|: 200ms|' \
    $examples/prometheus.yml >"$folder/prometheus.yml"
check 'promtool finds the configuration right' promtool check config "$folder/prometheus.yml"
begin prometheus prometheus --config.file "$folder/prometheus.yml" --storage.tsdb.path "$folder/data" \
    --web.listen-address 127.0.0.1:0
within 60 grep -qs 'msg="Listening on"' "$folder/prometheus.errors"
server=http://$(sed -n 's/.*msg="Listening on" address=//p' "$folder/prometheus.errors")
has_result() { [ -n "$(promtool query instant "$server" "$1")" ]; }
check 'Prometheus reads it' within 60 has_result 'up{job="gimbal"} == 1'
queries=0
while read -r query; do
    queries=$((queries + 1))
    check "Prometheus answers $query" within 60 has_result "$query"
done < <(jq -r '.panels[].targets[].expr' $examples/dashboard.json)
check 'the dashboard has queries' [ $queries -gt 10 ]
check 'a query without a result is found' bash -c "! promtool query instant $server gimbal_nothing | grep ."

conclude
