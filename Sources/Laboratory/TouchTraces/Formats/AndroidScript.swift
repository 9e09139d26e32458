// Plays scripts that touch an Android screen: adb commands, as Android's InputShellCommand.java reads them, and monkey
// scripts, as its MonkeySourceScript.java does. Positions are pixels.
//
//     adb shell input touchscreen swipe 100 200 300 400 500
//     sleep 0.5
//
//     DispatchPointer(5109520,5109530,0,230.7,458.1,0.2,0.06,0,0.0,0.0,65539,0)
//     UserWait(1000)
//
// Time advances by the durations of commands and by sleeps. The time to start a command is unknown and ignored.

import MapCamera

struct AndroidScript {
    private var timeMs = 0.0
    /// Milliseconds per frame, if the caller knows.
    private let stepMs: Double?
    /// The speed at which monkey plays.
    private var speed = 1.0
    /// The script's time of the previous pointer event.
    private var lastMs: Double?
    /// The total duration of moves made of one command, in milliseconds.
    private var glidedMs = 0.0

    private static let frameMs = 1000.0 / 60
    /// An hour: longer than any script, but it bounds the number of frames.
    private static let longestMs = 3_600_000.0
    /// How long a finger rests before it begins to drag.
    private static let longPressMs = 400.0
    private static let latestMs = 1e12
    private static let otherSources: Set = [
        "keyboard", "mouse", "joystick", "touchnavigation", "touchpad", "trackball", "dpad", "stylus", "gamepad",
        "rotaryencoder",
    ]

    init(rate: Double?) { stepMs = rate.map { 1000 / $0 } }

    // MARK: Lines

    /// Returns whether a line commands a touch.
    static func recognizesInput(_ line: Span<UInt8>) -> Bool {
        var index = 0
        guard Scan.find("input ", line, &index) else { return false }
        return ShellCommand.all(line).contains { command in
            guard let words = inputWords(command, line), let verb = words.first else { return false }
            return ["tap", "swipe", "draganddrop", "motionevent"].contains(verb)
        }
    }

    /// Returns whether a line is monkey's. The names of its calls are unique to it.
    static func recognizesMonkey(_ line: Span<UInt8>) -> Bool {
        if Scan.begins(line, with: "start data >>") { return true }
        guard let call = MonkeyCall(line) else { return false }
        return ["DispatchPointer", "captureDispatchPointer", "UserWait", "PinchZoom", "PressAndHold"].contains(
            call.name)
    }

    /// Plays a line of commands.
    mutating func parseInput(_ line: Span<UInt8>, _ fingers: inout FingerFrames) throws(Damaged) {
        for command in ShellCommand.all(line) {
            if let slept = command.sleeps(line) {
                pass(Double(slept) / 1000)
            } else if let words = Self.inputWords(command, line) {
                try perform(words, &fingers)
            }
        }
    }

    /// Returns the words after `input`, if it is about fingers.
    private static func inputWords(_ command: ShellCommand, _ line: Span<UInt8>) -> [String]? {
        var words = command.words.map { Scan.text(line, $0) }[...]
        guard words.popFirst() == "input", let source = words.first, !otherSources.contains(source) else { return nil }
        if source == "touchscreen" { words.removeFirst() }
        if words.first == "-d" { words = words.dropFirst(2) }
        return Array(words)
    }

    private mutating func perform(_ words: [String], _ fingers: inout FingerFrames) throws(Damaged) {
        switch words.first {
        case "tap": try tap(Self.numbers(words[1...], 2...2), &fingers)
        case "swipe": try swipe(Self.numbers(words[1...], 4...5), restMs: 0, &fingers)
        case "draganddrop": try swipe(Self.numbers(words[1...], 4...5), restMs: Self.longPressMs, &fingers)
        case "motionevent":
            guard words.count > 1, let action = Self.actions[words[1].uppercased()] else { throw Damaged() }
            try act(action, 0, Self.numbers(words[2...], action == .cancel ? 0...2 : 2...2), &fingers)
        default: break
        }
    }

    private static func numbers(_ words: ArraySlice<String>, _ count: ClosedRange<Int>) throws(Damaged) -> [Double] {
        let numbers = words.compactMap(Double.init).filter(\.isFinite)
        guard numbers.count == words.count, count.contains(numbers.count) else { throw Damaged() }
        return numbers
    }

    // MARK: Monkey

    /// Plays a line of a monkey script.
    mutating func parseMonkey(_ line: Span<UInt8>, _ fingers: inout FingerFrames) throws(Damaged) {
        var index = 0
        if Scan.word("speed=", line, &index) {
            guard let speed = Scan.real(line, &index), speed > 0 else { throw Damaged() }
            self.speed = speed
        }
        guard let call = MonkeyCall(line), let count = Self.argumentCounts[call.name] else { return }
        let values = try Self.numbers(call.arguments[...], count)
        switch call.name {
        case "Tap", "PressAndHold": try tap(values, &fingers)
        case "Drag": try glide([values], steps: values[4], &fingers)
        case "PinchZoom": try glide([values, Array(values[4...])], steps: values[8], &fingers)
        case "UserWait": pass(values[0])
        default: try point(values, &fingers)
        }
    }

    /// Plays `downTime, eventTime, action, x, y`, seven more values and an optional pointer number.
    private mutating func point(_ values: [Double], _ fingers: inout FingerFrames) throws(Damaged) {
        guard let code = Int(exactly: values[2]), FingerFrames.isTime(values[1]) else { throw Damaged() }
        if let lastMs { pass((values[1] - lastMs) / speed) }
        lastMs = values[1]
        guard let action = Self.pointerActions[code & 0xff] else { throw Damaged() }
        let pointer = values.count == 13 ? values[12] : Double(code >> 8)
        try act(action, pointer, Array(values[3...4]), &fingers)
    }

    /// How many arguments monkey's calls have, of those that are played.
    private static let argumentCounts = [
        "DispatchPointer": 12...13, "captureDispatchPointer": 12...13, "Tap": 2...3, "PressAndHold": 3...3,
        "Drag": 5...5, "PinchZoom": 9...9, "UserWait": 1...1,
    ]
    /// Android's names and numbers of actions.
    private static let actions: [String: Action] = ["DOWN": .down, "MOVE": .move, "UP": .up, "CANCEL": .cancel]
    private static let pointerActions: [Int: Action] = [
        0: .down, 1: .up, 2: .move, 3: .cancel, 5: .down, 6: .pointerUp,
    ]

    // MARK: Fingers

    private enum Action { case down, move, up, pointerUp, cancel }

    private mutating func pass(_ milliseconds: Double) { timeMs = min(timeMs + max(milliseconds, 0), Self.latestMs) }

    private mutating func act(
        _ action: Action, _ pointer: Double, _ place: [Double], _ fingers: inout FingerFrames
    ) throws(Damaged) {
        switch action {
        case .down: try fingers.land(pointer, place[0], place[1])
        case .move: try fingers.move(pointer, place[0], place[1])
        case .pointerUp: fingers.lift(pointer)
        case .up, .cancel: fingers.liftAll()
        }
        fingers.complete(at: timeMs, isCancelled: action == .cancel)
        pass(stepMs ?? 0)
    }

    /// Taps. The values are x, y, and optionally how long it is held.
    private mutating func tap(_ values: [Double], _ fingers: inout FingerFrames) throws(Damaged) {
        try act(.down, 0, values, &fingers)
        if values.count == 3 { pass(values[2]) }
        try act(.up, 0, values, &fingers)
    }

    /// Swipes. The values are x and y of the start and the end, and optionally the duration.
    private mutating func swipe(
        _ values: [Double], restMs: Double, _ fingers: inout FingerFrames
    ) throws(Damaged) {
        let duration = values.count == 5 && values[4] >= 0 ? values[4] : 300
        let (from, to) = (ScreenPoint(x: values[0], y: values[1]), ScreenPoint(x: values[2], y: values[3]))
        try spend(duration)
        let start = timeMs
        try fingers.land(0, from.x, from.y)
        fingers.complete(at: start)
        // The rest is part of the duration.
        let end = max(duration, restMs)
        var step = 1.0
        while step * Self.frameMs < end {
            defer { step += 1 }
            let time = step * Self.frameMs
            guard time > restMs else { continue }
            let place = from.towards(to, time / duration)
            try fingers.move(0, place.x, place.y)
            fingers.complete(at: start + time)
        }
        pass(end)
        try fingers.move(0, to.x, to.y)
        fingers.complete(at: timeMs)
        try act(.up, 0, [to.x, to.y], &fingers)
    }

    /// Moves fingers, each from x and y to x and y, in this many steps. Each step takes a frame, at 60 per second if no
    /// rate was given.
    private mutating func glide(
        _ moves: [[Double]], steps: Double, _ fingers: inout FingerFrames
    ) throws(Damaged) {
        let stepMs = stepMs ?? Self.frameMs
        guard steps >= 1 else { return }
        try spend(steps.rounded() * max(stepMs, Self.frameMs))
        for (pointer, move) in moves.enumerated() {
            try fingers.land(Double(pointer), move[0], move[1])
            fingers.complete(at: timeMs)
        }
        for step in 1...Int(steps) {
            pass(stepMs)
            for (pointer, move) in moves.enumerated() {
                let (from, to) = (ScreenPoint(x: move[0], y: move[1]), ScreenPoint(x: move[2], y: move[3]))
                let place = from.towards(to, Double(step) / Double(Int(steps)))
                try fingers.move(Double(pointer), place.x, place.y)
            }
            fingers.complete(at: timeMs)
        }
        try act(.up, 0, [0, 0], &fingers)
    }

    private mutating func spend(_ milliseconds: Double) throws(Damaged) {
        guard milliseconds <= Self.longestMs - glidedMs else { throw Damaged() }
        glidedMs += milliseconds
    }
}

/// A line such as `Tap(10, 20)`.
private struct MonkeyCall {
    let name: String
    let arguments: [String]

    init?(_ line: Span<UInt8>) {
        var index = 0
        Scan.space(line, &index)
        let start = index
        while index < line.count, 0x41...0x5a ~= line[index] & 0xdf { index += 1 }
        let end = index
        guard end > start, end - start <= 40, Scan.byte(UInt8(ascii: "("), line, &index) else { return nil }
        let inside = index
        guard Scan.find(")", line, &index) else { return nil }
        name = Scan.text(line, start..<end)
        arguments = Scan.text(line, inside..<(index - 1)).split(separator: ",", omittingEmptySubsequences: false).map {
            $0.filter { $0 != " " }
        }
    }
}
