// What was found in a recording besides its touches. Counts are exact; only the first damaged lines are kept.

/// A quirk of real recordings that a reader must cope with.
public enum Quirk: Int, CaseIterable, Sendable {
    /// Nothing gives the range of positions, so the observed range is used.
    case noHead
    /// The clock counts from 1970 (the Unix epoch).
    case epochClock
    /// The events of one frame have different times; the last one is used. Counted in frames.
    case mixedTimes
    /// The clock went back; time stood still, or continued from where it was. Counted in frames.
    case timeWentBack
    /// A contact's data came before any slot was chosen: slot 0 is assumed.
    case noSlotBeforeData
    /// Two or more fingers landed in one frame. Counted in frames.
    case landedTogether
    /// Two or more fingers lifted in one frame. Counted in frames.
    case liftedTogether
    /// A finger replaced another one in its slot between two frames: a lift and a landing.
    case idReplaced
    /// A finger was down before the recording began, or before events were lost.
    case downBefore
    /// A finger was down when the recording ended: it is cancelled.
    case leftDown
    /// A contact was a palm: it is ignored.
    case palm
    /// The kernel lost events: what the fingers did is cancelled.
    case dropped
    /// A position was negative. Counted in frames.
    case negative
    /// Events of devices other than the followed one.
    case otherDevice
    /// A gesture changed that had not begun.
    case noBegin
    /// A finger hovered above the surface: it is ignored until it touches.
    case hovering
    /// A pen was used: it is ignored. Counted in its reports.
    case pen
    /// The recorder keeps only one finger.
    case oneFinger
    /// Another finger joined the one that the recorder keeps: which of them moved is unknown, so they are cancelled.
    case unknownFinger
    /// A finger lifted before its whole position was reported, because part of it was unchanged from the slot's
    /// previous finger: it is counted, but not followed.
    case unplaced
    /// Another recording follows in the same file: fingers of the previous one are cancelled. Counted in recordings.
    case recordingFollows
}

/// How a device tells contacts apart.
public enum ContactProtocol: Sendable {
    /// Each frame has all contacts. (Kernel: type A.)
    case wholeFrames
    /// Contacts have slots, and only changes are reported. (Kernel: type B.)
    case slots
    /// There is never more than one contact. (Kernel: ABS_X, ABS_Y and BTN_TOUCH.)
    case single
}

/// A line that could not be read.
public struct DamagedLine: Equatable, Sendable {
    /// The line's number, from 1.
    public let line: Int
    /// The beginning of the line, made printable; or what is wrong with it.
    public let excerpt: String
}

/// What was found in a recording besides its touches.
public struct RecordingNotes: Equatable, Sendable {
    /// The maximum number of damaged lines kept.
    public static let mostDamaged = 100

    /// The first lines that could not be read. They were skipped.
    public private(set) var damaged: [DamagedLine] = []
    /// How many lines could not be read.
    public private(set) var damagedCount = 0
    /// How the device tells contacts apart, once known.
    public internal(set) var contactProtocol: ContactProtocol?
    /// The numbers of devices whose fingers were ignored, because another device is followed.
    public private(set) var devicesLeftOut: [Int] = []
    private var counts = [Int](repeating: 0, count: Quirk.allCases.count)

    package init() {}

    /// How often a quirk was found.
    public subscript(quirk: Quirk) -> Int { counts[quirk.rawValue] }

    @inline(__always)
    mutating func add(_ quirk: Quirk, _ count: Int = 1) { counts[quirk.rawValue] += count }

    /// Counts landings and liftings in a frame that follows one with these contacts.
    @inline(__always)
    mutating func count(_ frame: ContactFrame, after before: [Contact]) {
        let landed = frame.landed(since: before)
        var isNegative = false
        for contact in frame.contacts { isNegative = isNegative || contact.x < 0 || contact.y < 0 }
        if landed > 1 { add(.landedTogether) }
        if before.count + landed - frame.contacts.count > 1 { add(.liftedTogether) }
        if isNegative { add(.negative) }
    }

    mutating func leaveOut(deviceNumber number: Int) {
        guard number > 0, !devicesLeftOut.contains(number) else { return }
        devicesLeftOut.append(number)
    }

    package mutating func addDamaged(_ line: Int, _ excerpt: @autoclosure () -> String) {
        damagedCount += 1
        if damaged.count < Self.mostDamaged { damaged.append(DamagedLine(line: line, excerpt: excerpt())) }
    }
}
