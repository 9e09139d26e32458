#!/usr/bin/env bash
# gimbal-mqtt with real brokers and foreign clients: mosquitto with TLS, passwords and access control between two
# machines that are network namespaces, killed and cut off; wrong wall clocks; a cluster of three NATS servers that
# loses one; a real chronyd. Prints failures, what cannot be tested here, and a last line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
exec /usr/bin/python3 Tests/Broker/Fleet/fleet.py "${SCRATCH:-.build}/release" "$@"
