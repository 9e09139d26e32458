// What the wall clock shows beside the hub's own time. It is told anew in each turn: people and programs set a wall clock, and
// slow it down or speed it up. A hub that is never told takes its own time for it.

import GimbalProtocol

final class WallClock {
    /// The present, in the hub's time and on the wall clock.
    private(set) var present = (hub: 0.0, wall: WallTime(microseconds: 0))

    func set(_ wall: WallTime, at now: Double) { present = (now, wall) }

    /// The hub's time at a time of the wall clock.
    func time(at wall: WallTime) -> Double { present.hub + wall.milliseconds(since: present.wall) }

    /// The time of the wall clock at one of the hub's.
    func wallTime(at time: Double) -> WallTime { present.wall.adding(milliseconds: time - present.hub) }
}
