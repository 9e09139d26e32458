#!/usr/bin/env python3
"""A fleet on paper: which server, and which link, is saturated first, and the effect of losing a server.

   fleet_plan.py [--delivery µs] [--event µs] …      costs as fleet.py measures them

Cameras are spread over nodes by name, followers over servers as they connect; the number of a camera's followers
depends on its rank (Zipf), and a camera moves for a while now and then. The random numbers are seeded, so the tables of
Protocols/fleet.md can be reproduced.
"""

import argparse
import hashlib
import heapq
import random

parser = argparse.ArgumentParser()
parser.add_argument("--cameras", type=int, default=10_000)
parser.add_argument("--followers", type=int, default=100_000)
parser.add_argument("--nodes", type=int, default=100, help="daemons with a bridge: the shards")
parser.add_argument("--servers", type=int, default=8, help="servers of the broker's cluster")
parser.add_argument("--rate", type=float, default=30, help="states a second of a camera that moves")
parser.add_argument("--moving", type=float, default=0.1, help="the share of cameras that move at one time")
parser.add_argument("--zipf", type=float, default=0.8, help="how uneven cameras are followed")
parser.add_argument("--bytes", type=int, default=480, help="of a state with its topic and headers")
parser.add_argument("--delivery", type=float, required=True, help="µs of a server's processor for a delivery")
parser.add_argument("--event", type=float, required=True, help="µs of a bridge's processor for an event")
parser.add_argument("--cores", type=float, default=1, help="cores that a server uses")
parser.add_argument("--link", type=float, default=1e9, help="bits a second of a server's link")
parser.add_argument("--seconds", type=int, default=200, help="how long is looked at")
options = parser.parse_args()
chance = random.Random(16)

weights = [1 / rank**options.zipf for rank in range(1, options.cameras + 1)]
total = sum(weights)
followers = [options.followers * weight / total for weight in weights]
# A camera's followers are spread over all servers, as they happened to connect.
shard = [int.from_bytes(hashlib.sha256(b"camera-%d" % camera).digest()[:4], "big") % options.nodes for camera in range(options.cameras)]

# One sample a second: each camera moves or rests for 4 s on average.
stay = 1 - 1 / 4
begin = (1 - stay) * options.moving / (1 - options.moving)
moving = [chance.random() < options.moving for _ in range(options.cameras)]
deliveries, most_of_node = [], []
for second in range(options.seconds):
    load = [0] * options.nodes
    sent = 0.0
    for camera in range(options.cameras):
        moving[camera] = chance.random() < (stay if moving[camera] else begin)
        if moving[camera]:
            sent += followers[camera] * options.rate
            load[shard[camera]] += 1
    deliveries.append(sent)
    most_of_node.append(max(load))


def top(values, share=0.99):
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def row(name, value):
    print(f"| {name} | {value} |")


spread = [shard.count(node) for node in range(options.nodes)]
worst = top(deliveries)
for servers in (options.servers, options.servers - 1):
    each = worst / servers
    print(f"\n{servers} servers\n\n| | |\n|---|---|")
    row("cameras of a node, fewest and most", f"{min(spread)}, {max(spread)}")
    row("cameras that move on one node at one time, 99 of 100 seconds", f"{top(most_of_node)}")
    row("a bridge's core", f"{top(most_of_node) * 60 * options.event / 1e4:.1f} %")
    row("a node's link up", f"{top(most_of_node) * options.rate * options.bytes * 8 / 1e6:.1f} Mbit/s")
    row("deliveries a second, mean and 99 of 100 seconds", f"{sum(deliveries) / len(deliveries):,.0f}, {worst:,.0f}")
    row("of a server", f"{each:,.0f}")
    row("a server's processor", f"{each * options.delivery / 1e4 / options.cores:.0f} % of {options.cores:g} cores")
    row("a server's link down", f"{each * options.bytes * 8 / options.link * 100:.0f} %")
    between = options.cameras * options.moving * options.rate * options.bytes * 8
    row("between two servers, where each has followers of all cameras", f"{between / servers / options.link * 100:.1f} %")

# A server is lost: its followers reconnect to the others, each after a random, doubling delay, and read what is kept.
lost = options.followers / options.servers
for spare in (200, 1000, 5000):
    # `spare`: connections that a server accepts per second, including TLS; the others wait and retry.
    attempts = [(chance.uniform(0.05, 0.1), 0.1) for _ in range(int(lost))]
    capacity = spare * (options.servers - 1)
    heapq.heapify(attempts)
    tries, bucket, done = 0, {}, 0.0
    while attempts:
        at, delay = heapq.heappop(attempts)
        tries += 1
        slot = int(at * 10)
        if bucket.get(slot, 0) < capacity / 10:
            bucket[slot] = bucket.get(slot, 0) + 1
            done = at
        else:
            delay = min(delay * 2, 10)
            heapq.heappush(attempts, (at + chance.uniform(delay / 2, delay), delay))
    print(f"\na lost server's {int(lost):,} followers, {spare} connections a second and server: all are back after {done:.1f} s, {tries / lost:.1f} attempts each")
