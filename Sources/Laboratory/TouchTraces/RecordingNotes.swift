// What was met in a recording beside its touches. Counts are exact; of the damaged lines only the first are kept.

/// Something that real recordings do and that a reader must cope with.
public enum Quirk: Int, CaseIterable, Sendable {
    /// Nothing tells the range of positions: what was observed decides.
    case noHead
    /// The clock counts from 1970.
    case epochClock
    /// The events of one frame have different times; the last counts. Counted in frames.
    case mixedTimes
    /// The clock went back; time stood still, or went on from where it was. Counted in frames.
    case timeWentBack
    /// Data of a contact came before any slot was chosen: slot 0.
    case noSlotBeforeData
    /// Two or more fingers landed in one frame. Counted in frames.
    case landedTogether
    /// Two or more fingers lifted in one frame. Counted in frames.
    case liftedTogether
    /// A finger took another one's slot between two frames: a lift and a landing.
    case idReplaced
    /// A finger had been down before the recording began, or before events were lost.
    case downBefore
    /// A finger was down when the recording ended: it is cancelled.
    case leftDown
    /// A contact was a palm: it is left out.
    case palm
    /// The kernel lost events: what the fingers did is cancelled.
    case dropped
    /// A position was negative. Counted in frames.
    case negative
    /// Events of other devices than the one that counts.
    case otherDevice
    /// A gesture went on that had not begun.
    case noBegin
    /// A finger was above the surface and did not touch it: it is left out as long as it did not.
    case hovering
    /// A pen was there: it is left out. Counted in its reports.
    case pen
    /// The recorder keeps one finger.
    case oneFinger
    /// Another finger joined the one that the recorder keeps: which of them moved is not known, and they are cancelled.
    case unknownFinger
    /// A finger lifted before its whole position was reported, since part of it was unchanged from the slot's previous
    /// finger: it is counted, but not followed.
    case unplaced
    /// Another recording follows in the same file: fingers of the one before are cancelled. Counted in recordings.
    case recordingFollows
}

/// How a device tells contacts apart.
public enum ContactProtocol: Sendable {
    /// Each frame has all contacts. (Kernel: type A.)
    case wholeFrames
    /// Contacts have slots, and only changes are reported. (Kernel: type B.)
    case slots
    /// There is never more than one contact.
    case single
}

/// A line that could not be read.
public struct DamagedLine: Equatable, Sendable {
    /// The line's number, from 1.
    public let line: Int
    /// The beginning of the line, fit to be shown; or what is wrong with it.
    public let excerpt: String
}

/// What was met in a recording beside its touches.
public struct RecordingNotes: Equatable, Sendable {
    /// How many damaged lines are kept.
    public static let mostDamaged = 100

    /// The first lines that could not be read. They were skipped.
    public private(set) var damaged: [DamagedLine] = []
    /// How many lines could not be read.
    public private(set) var damagedCount = 0
    /// How the device tells contacts apart, once that is known.
    public internal(set) var contactProtocol: ContactProtocol?
    /// The numbers of devices whose fingers were left out, since another one is followed.
    public private(set) var devicesLeftOut: [Int] = []
    private var counts = [Int](repeating: 0, count: Quirk.allCases.count)

    /// How often a quirk was met.
    public subscript(quirk: Quirk) -> Int { counts[quirk.rawValue] }

    @inline(__always)
    mutating func add(_ quirk: Quirk, _ count: Int = 1) { counts[quirk.rawValue] += count }

    /// Counts what came and went in a frame that follows one with these contacts.
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

    mutating func addDamaged(_ line: Int, _ excerpt: @autoclosure () -> String) {
        damagedCount += 1
        if damaged.count < Self.mostDamaged { damaged.append(DamagedLine(line: line, excerpt: excerpt())) }
    }
}
