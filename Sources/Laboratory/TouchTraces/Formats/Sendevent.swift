// Parses scripts of Android's `sendevent /dev/input/event2 3 53 631`: type, code and value in decimal. Their only times
// are those they sleep, and the frame rate that the caller gives.

struct SendeventParser: EventLineParser {
    /// Microseconds per frame, or 0 if unknown.
    private let step: Int
    private var time = 0
    private var reports = 0
    private var hasSlept = false

    init() { self.init(rate: nil) }

    /// - Parameter rate: frames per second; `nil` if unknown.
    init(rate: Double?) { step = rate.map { Int(min(1_000_000 / $0, 1e12).rounded()) } ?? 0 }

    /// Whether nothing gives the time between frames.
    var isTimeless: Bool { reports > 1 && step == 0 && !hasSlept }

    static func isHead(_ line: Span<UInt8>) -> Bool { false }

    mutating func parse(_ line: Span<UInt8>, _ heads: inout DeviceHeads) -> RecordedLine {
        var events: [InputEvent] = []
        for command in ShellCommand.all(line) {
            if let slept = command.sleeps(line) {
                time = min(time + slept, FrameClock.recorded.upperBound)
                hasSlept = true
            } else if Scan.text(line, command.words[0]) == "sendevent" {
                guard let event = event(command, line) else { return .damaged }
                events.append(event)
                guard event.isReport else { continue }
                reports += 1
                time = min(time + step, FrameClock.recorded.upperBound)
            }
        }
        return events.isEmpty ? .nothing : .events(events)
    }

    private func event(_ command: ShellCommand, _ line: Span<UInt8>) -> InputEvent? {
        guard command.words.count == 5 else { return nil }
        func number(_ word: Int) -> Int? {
            let word = command.words[word]
            var index = word.lowerBound
            let value = Scan.word("0x", line, &index) ? Scan.hex(line, &index) : Scan.decimal(line, &index)
            return index == word.upperBound ? value : nil
        }
        var index = command.words[1].lowerBound
        let device = GeteventParser.device(line, &index)
        guard let type = number(2), let code = number(3), let value = number(4) else { return nil }
        // -1 may be written as 4294967295.
        return InputEvent(
            time: time, type: type, code: code, value: Int(Int32(truncatingIfNeeded: value)), device: device)
    }
}
