// Who reads what a camera does and what it is sent.
// Invariant: a subscription knows its index in the list, so it is never searched for.

import GimbalProtocol

struct CameraReaders {
    /// In any order.
    private(set) var subscriptions: [Subscription] = []
    /// How many of them ask for what the camera is sent, and how many to see the fingers.
    private var (recorders, onlookers) = (0, 0)
    /// How many ask for its clock, and how many for what moves it by itself.
    private var (clockReaders, motionReaders) = (0, 0)
    /// Recorders that wait for the camera to rest, so that the hub can tell them how their trace begins.
    private var waiting: [Subscription] = []

    /// Whether there is one that shows fingers, one that asks for what the camera is sent, one that does either.
    var showTouches: Bool { onlookers > 0 }
    var record: Bool { recorders > 0 }
    var readInputs: Bool { record || showTouches }
    var hasWaiting: Bool { !waiting.isEmpty }
    var readClock: Bool { clockReaders > 0 }
    var clockReaderIsAlone: Bool { clockReaders == 1 }
    var readMotion: Bool { motionReaders > 0 }
    /// Whether there is one that waits for its rest, or asks for its clock or its motions: what is to be done for them after each batch.
    private(set) var wantMore = false

    /// Those that record it and have been told how their trace begins.
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

    /// Removes one; says whether it was there.
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

    /// Has a recorder wait until the camera rests.
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
