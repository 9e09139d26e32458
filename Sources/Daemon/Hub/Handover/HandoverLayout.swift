// What one process hands to the next, as records of tagged fields (TaggedFields.swift). The next process may be of another
// version, older or newer, so:
//
// - A tag keeps its meaning and its type for ever. What is new gets a new tag; a tag that is not used any more is not used
//   again.
// - A reader skips unknown tags and does without missing ones: a camera or client then has its initial value. Only
//   fields that say so are required.
// - Raise ``HandoverLayout/revision`` by one when you change what is written, and record the new layout as the test
//   `HandoverLayoutTests` says. What was recorded before stays: later versions read it.
//
// The file in which this is handed over stands in gimbald's HandoverFile.swift.

package enum HandoverLayout {
    /// Which layout this version writes. Readers do not depend on it: it is for people and for tests.
    package static let revision: UInt64 = 3
}

/// All that is handed over.
package enum HandoverField: UInt16, FieldTag {
    case revision = 1
    /// The name and version of the writer, as in `hello`.
    case server = 2
    /// A record of ``ProcessField``.
    case process = 3
    /// A record of ``HubField``.
    case hub = 4
}

/// The process's own part: descriptors, by their numbers in the process that wrote it.
package enum ProcessField: UInt16, FieldTag {
    /// A record of ``ListenerField`` for each listening socket of the service manager's.
    case listener = 1
    /// A record of ``ListenerField`` for each listening socket of the daemon's own.
    case ownSocket = 2
    /// A record of ``ClientField`` for each connection.
    case client = 3
}

package enum ListenerField: UInt16, FieldTag {
    case descriptor = 1
    /// 0 for clients that may do everything, 1 for watch-only clients; without it, 1.
    case socketKind = 2
    /// The daemon's own sockets: the file's path, and the descriptor of its lock.
    case path = 3
    case lock = 4
}

package enum ClientField: UInt16, FieldTag {
    /// The inode of the connection's socket, which is the same in every process.
    case key = 1
    case descriptor = 2
    /// As ``ListenerField/socketKind``.
    case socketKind = 3
    /// Whether its last byte has been read.
    case hasEnded = 4
    /// Whether it closed its sending side while it went on reading.
    case hasHalfClosed = 5
}

package enum HubField: UInt16, FieldTag {
    /// Milliseconds of the monotonic clock at which the first process started.
    case started = 1
    /// How many clients have been numbered.
    case peerNumbers = 2
    /// A record of ``CounterField``.
    case counters = 3
    /// A record of ``CameraField`` for each camera.
    case camera = 4
    /// A record of ``PeerField`` for each client. Those whose lines wait for a turn come first, in their order.
    case peer = 5
    /// A record of ``ReplayField`` for each replay.
    case replay = 6
}

package enum CounterField: UInt16, FieldTag {
    case connectionsTotal = 1
    case lines = 2
    case errors = 3
    case events = 4
    case bytesIn = 5
    case bytesOut = 6
}

package enum CameraField: UInt16, FieldTag {
    /// What is saved of it: two lines, as in the state file. It has to be there.
    case state = 1
    /// Whether it is there only for clients that may only watch.
    case isEphemeral = 2
    /// The hub's time at which the camera's clock was 0.
    case clockStart = 3
    /// The entry of the log that has seq 1, by which versions before revision 2 count.
    case firstEntry = 4
    /// A record of ``LogField``.
    case log = 5
    /// A record of ``InputLogField``, while a client has subscribed to `gesture` or `touch`.
    case inputLog = 6
    /// The seq with which the epoch began.
    case firstSeq = 7
    /// A record of ``MomentField``. Without it the camera is at rest, as its state says.
    case moment = 8
}

/// A camera in the middle of things. Numbers are doubles of eight bytes, the lowest first; what they are, the values that
/// are made of them say (`NumberList`).
package enum MomentField: UInt16, FieldTag {
    /// Numbers. It has to be there.
    case camera = 1
    /// Seven numbers, 0 or 1: scroll, zoom, rotate, tilt, scrollDuringRotateOrZoom, fling and inertia.
    case settings = 2
    /// A record of ``GestureField`` for each active gesture, in the order in which they began.
    case gesture = 3
    /// Numbers, while it moves by itself.
    case motion = 4
    /// Why it moves by itself, and why it moves: words as in events; without the second it is idle.
    case motionReason = 5
    case reason = 6
    case seq = 7
    case lastTime = 8
    case frames = 9
    /// A record of ``SurfaceField`` for each surface, the least recently used first.
    case surface = 10
    /// The number of the surface that came last.
    case lastSurface = 11
}

/// A surface whose fingers feed a camera.
package enum SurfaceField: UInt16, FieldTag {
    /// The number of the client whose it is. It has to be there.
    case peer = 1
    /// What the client calls it: a text, an integer as a double, or neither.
    case text = 2
    case integer = 3
    /// Tells it from others. It has to be there.
    case number = 4
    /// The time of its last frame, and what its clock lacks to go on from where it was when it was set.
    case lastTime = 5
    case shift = 6
    /// A record of what its recognizer knows, by the tags of `RecognizerTag`.
    case recognizer = 7
}

package enum GestureField: UInt16, FieldTag {
    /// The number of the client that reports it, and its kind's word. They have to be there.
    case feed = 1
    case kind = 2
    /// Its label: bytes, or a number's bits; without either, none.
    case text = 3
    case number = 4
    /// Numbers.
    case numbers = 5
    /// In ``InputLogField/gesture``: the number that it has in the log.
    case logged = 6
}

/// A replay. Whose lines are damaged is over at once.
package enum ReplayField: UInt16, FieldTag {
    /// The camera's name. It has to be there.
    case camera = 1
    /// The number of the client that sends it, as long as it is there, and by which its gestures are known.
    case peer = 2
    case feed = 3
    case id = 4
    /// A trace's header: how it is played.
    case header = 5
    /// The clock: see `ReplayClock`.
    case speed = 6
    case origin = 7
    case start = 8
    case held = 9
    case lastStep = 10
    case isPaused = 11
    /// How many more `camera-changed` are sent until it is paused.
    case stepsLeft = 12
    case round = 13
    case rejected = 14
    case isCut = 15
    case passesOver = 16
    /// Whether its camera is free, and only the rest of its lines is passed over.
    case isOver = 17
    /// A record of ``RunField``; its moment is the camera's.
    case run = 18
    /// A record of ``RunField``, while it seeks.
    case seek = 19
    /// A record of ``RunField`` for each checkpoint.
    case checkpoint = 20
    /// The number of the oldest line, and whether none follows the last one.
    case firstLine = 21
    case isComplete = 22
    /// A record of ``KeptLinesField`` for each part.
    case lines = 23
    /// A record of ``MarkerField`` for each marker.
    case marker = 24
}

package enum RunField: UInt16, FieldTag {
    case time = 1
    case line = 2
    case events = 3
    case hasEnded = 4
    case steps = 5
    /// A record of ``MomentField``.
    case moment = 6
    /// Where a seek goes.
    case target = 7
}

package enum KeptLinesField: UInt16, FieldTag {
    case text = 1
    /// Numbers: of each line the time, and where it ends.
    case entries = 2
}

package enum MarkerField: UInt16, FieldTag {
    case time = 1
    case label = 2
}

package enum InputLogField: UInt16, FieldTag {
    /// The time of the last line, on the camera's clock.
    case lastTime = 1
    /// A record of ``LogField``.
    case log = 2
    /// A record of ``GestureField`` for each active gesture.
    case gesture = 3
    /// Whether a client records.
    case isRecording = 4
    /// When fingers were shown last, on the camera's clock.
    case lastTouchTime = 5
    /// Numbers: of each surface whose fingers are recorded as they are its number, and what it is called in the recording.
    case surfaces = 6
    /// What the next surface is called in the recording.
    case nextSurface = 7
}

/// A history. Its lines stand here or, if they are many, in the file, in a ring that the next process goes on using. If
/// they are lost, the history is empty and goes on behind its last line.
package enum LogField: UInt16, FieldTag {
    /// The number of the oldest line.
    case first = 1
    /// For each line its length, four bytes, the lowest first.
    case lengths = 2
    /// For each line its kind, one byte: a bit as in `EventKinds`.
    case kinds = 3
    /// The lines, one behind the other.
    case lines = 4
    /// Where in the file the ring is, and how many bytes it has.
    case ringOffset = 5
    case ringSize = 6
    /// Where in the ring the oldest line is.
    case head = 7
    /// The number of the line at which the ring was last begun anew.
    case wrap = 8
    /// The newest `move-started` and the newest `reset`: a record of ``PinnedField`` each.
    case lastMoveStarted = 9
    case lastReset = 10
}

package enum PinnedField: UInt16, FieldTag {
    case entry = 1
    case line = 2
}

package enum PeerField: UInt16, FieldTag {
    /// What tells its connection from others, as in ``ClientField/key``. It has to be there.
    case key = 1
    /// Tells its gestures from those of others. It has to be there.
    case number = 2
    /// How many lines it has sent, and whether the rest of a long one is being skipped.
    case lineNumber = 3
    case isSkipping = 4
    /// What has been read and not taken.
    case input = 5
    case hasEnded = 6
    /// When the connection ends at the latest, if what comes is thrown away.
    case lingerEnd = 7
    case isBroken = 8
    case isBlocked = 9
    /// What has been answered and not sent.
    case replies = 10
    /// A record of ``SubscriptionField`` for each subscription, in their order.
    case subscription = 11
    /// A record of ``AllCamerasField``, if it has subscribed to all cameras.
    case all = 12
    /// The name of each camera that it has sent gestures to.
    case inputs = 13
    /// A record of ``WaitField`` for each request that waits for a camera.
    case wait = 14
    /// What it tells others of itself.
    case about = 15
}

package enum WaitField: UInt16, FieldTag {
    /// The camera's name. It has to be there.
    case camera = 1
    case id = 2
    case line = 3
    case timeoutMs = 4
    /// In the hub's time.
    case deadline = 5
}

package enum AllCamerasField: UInt16, FieldTag {
    /// As in ``SubscriptionField``.
    case kinds = 1
    case isLatest = 2
    /// Whether there are cameras that it was not told of.
    case isStale = 3
}

package enum SubscriptionField: UInt16, FieldTag {
    /// The camera's name. It has to be there.
    case camera = 1
    /// Whether it asks for what the camera is sent, or to see the fingers.
    case readsInputs = 2
    /// Bits as in `EventKinds`.
    case kinds = 3
    /// Whether only the newest position is wanted.
    case isLatest = 4
    /// The first entry of the log that has not been sent.
    case cursor = 5
    /// The kind of what was sent last.
    case lastSent = 6
    /// Whether what waits is not to be sent any more.
    case hasGivenUp = 7
    /// Whether it came of a subscription to all cameras.
    case isOfAll = 8
    /// Whether it records what the camera is sent; its kinds include `gesture` only once its trace has begun.
    case isRecorder = 9
    /// How many lines of the log that have no seq have not been sent.
    case unnumbered = 10
}
