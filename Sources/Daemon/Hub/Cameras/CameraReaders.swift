// The subscriptions to what a camera does and what it is fed.
// Invariant: a subscription knows its index in the list, so it is never searched for.

import GimbalProtocol

struct CameraReaders {
    /// In any order.
    private(set) var subscriptions: [Subscription] = []
    /// How many of them ask for what the camera is fed, and how many for its fingers.
    private var (recorders, onlookers) = (0, 0)
    /// How many ask for its clock, and how many for its motions.
    private var (clockReaders, motionReaders) = (0, 0)
    /// Recorders whose trace cannot begin yet; see ``HostedCamera/canBeginTrace``.
    private var waiting: [Subscription] = []

    /// Whether one shows fingers, whether one asks for what the camera is fed, and whether one does either.
    var showTouches: Bool { onlookers > 0 }
    var record: Bool { recorders > 0 }
    var readInputs: Bool { record || showTouches }
    var hasWaiting: Bool { !waiting.isEmpty }
    var readClock: Bool { clockReaders > 0 }
    var clockReaderIsAlone: Bool { clockReaders == 1 }
    var readMotion: Bool { motionReaders > 0 }
    /// Whether one waits for its trace to begin, or asks for the clock or motions, and so is served after each batch.
    private(set) var wantMore = false

    /// The recorders that have been told how their trace begins.
    var startedRecorders: [Subscription] { subscriptions.filter(\.hasTraceHeader) }

    /// Whether none of them named the camera.
    var namedNone: Bool { subscriptions.allSatisfy(\.isOfAll) }

    /// Whether one has asked for lines of a kind.
    func wants(_ kind: EventKinds) -> Bool { subscriptions.contains { $0.kinds.contains(kind) } }

    mutating func attach(_ subscription: Subscription) {
        subscription.index = subscriptions.count
        subscriptions.append(subscription)
        if subscription.showsTouches { onlookers += 1 }
        if subscription.isRecorder { recorders += 1 }
        if subscription.kinds.contains(.clock) { clockReaders += 1 }
        if subscription.kinds.contains(.motion) { motionReaders += 1 }
        noteWants()
    }

    private mutating func noteWants() { wantMore = hasWaiting || readClock || readMotion }

    /// Removes a subscription; returns whether it was there.
    mutating func detach(_ subscription: Subscription) -> Bool {
        let index = subscription.index
        guard index < subscriptions.count, subscriptions[index] === subscription else { return false }
        let last = subscriptions.removeLast()
        if last !== subscription {
            subscriptions[index] = last
            last.index = index
        }
        if subscription.showsTouches { onlookers -= 1 }
        if subscription.isRecorder { recorders -= 1 }
        if subscription.kinds.contains(.clock) { clockReaders -= 1 }
        if subscription.kinds.contains(.motion) { motionReaders -= 1 }
        if subscription.readsInputs { waiting.removeAll { $0 === subscription } }
        noteWants()
        return true
    }

    /// Makes a recorder wait until its trace can begin.
    mutating func wait(_ recorder: Subscription) {
        waiting.append(recorder)
        noteWants()
    }

    mutating func takeWaiting() -> [Subscription] {
        defer {
            waiting = []
            noteWants()
        }
        return waiting
    }
}
