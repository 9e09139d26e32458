// The time of the wall clock in relation to the hub's own. It is set anew in each turn, since people and programs set a
// wall clock, slow it down or speed it up. A hub whose wall clock is never set uses its own time instead.

import GimbalProtocol

final class WallClock {
    /// The present, in the hub's time and on the wall clock.
    private(set) var present = (hub: 0.0, wall: WallTime(microseconds: 0))

    func set(_ wall: WallTime, at now: Double) { present = (now, wall) }

    /// Returns the hub's time at a time of the wall clock.
    func time(at wall: WallTime) -> Double { present.hub + wall.milliseconds(since: present.wall) }

    /// Returns the time of the wall clock at a time of the hub.
    func wallTime(at time: Double) -> WallTime { present.wall.adding(milliseconds: time - present.hub) }
}
