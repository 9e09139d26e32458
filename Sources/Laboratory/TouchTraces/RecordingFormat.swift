// The formats of recordings, and the errors of files that cannot be read.

import GimbalProtocol

/// The formats of readable recordings.
public enum RecordingFormat: String, CaseIterable, Sendable {
    /// evemu-record, or evemu-describe alone.
    case evemu = "evemu"
    /// Android's `getevent`, with -l and -t or without.
    case getevent = "getevent"
    /// evtest.
    case evtest = "evtest"
    /// `libinput record`.
    case libinputRecord = "libinput record"
    /// `libinput debug-events`.
    case libinputDebugEvents = "libinput debug-events"
    /// hid-recorder: reports of HID devices.
    case hidRecorder = "hid-recorder"
    /// Events that a program with python-evdev printed.
    case pythonEvdev = "python-evdev"
    /// Scripts of Android's `sendevent`.
    case sendevent = "sendevent"
    /// Scripts of Android's `input` command.
    case androidInput = "adb shell input"
    /// Scripts of Android's monkey.
    case monkey = "monkey scripts"
    /// The kernel's own events, as read from a device.
    case inputEvents = "input events"
    /// TouchEvents or PointerEvents of a web page.
    case webTouches = "touches of a web page"
    /// `Input.dispatchTouchEvent` messages to Chrome.
    case devTools = "Chrome DevTools touches"
    /// The actions of a WebDriver script.
    case webDriver = "WebDriver actions"
    /// Sessions of web pages, recorded by rrweb.
    case rrweb = "rrweb"
    /// MotionEvents that an Android program logs.
    case motionEvents = "Android MotionEvents"
    /// Gimbal's own.
    case trace = "Gimbal trace"

    /// Returns the only format whose recordings can contain this line.
    static func recognize(_ line: Span<UInt8>) -> RecordingFormat? {
        if HIDRecorderParser.recognizes(line) { return .hidRecorder }
        if EvemuParser.recognizes(line) { return .evemu }
        if GeteventParser.recognizes(line) { return .getevent }
        if EvtestParser.recognizes(line) { return .evtest }
        if LibinputRecordParser.recognizes(line) { return .libinputRecord }
        if LibinputGestures.recognizes(line) { return .libinputDebugEvents }
        if MotionEvents.recognizes(line) { return .motionEvents }
        if PythonEvdevParser.recognizes(line) { return .pythonEvdev }
        if SendeventParser.recognizes(line) { return .sendevent }
        if AndroidScript.recognizesInput(line) { return .androidInput }
        if AndroidScript.recognizesMonkey(line) { return .monkey }
        return WebTouches.recognizes(line) ? .webTouches : nil
    }

    /// Returns whether this first line of a file is a trace's header, valid or not.
    package static func isHeader(_ line: Span<UInt8>) -> Bool {
        guard Scan.begins(line, with: "{") else { return false }
        do throws(Rejection) {
            guard case .trace = try RequestDecoder.requests(of: line).first?.body else { return false }
            return true
        } catch {
            return error.isHeader
        }
    }
}

/// An error for a file that cannot be read at all.
public enum RecordingError: Error, Equatable, CustomStringConvertible {
    /// The file is empty.
    case empty
    /// Nothing was recognized; `beginning` is how the file begins.
    case unknown(beginning: String)
    /// A trace without its first line.
    case noHeader
    /// What a camera did, not what it was fed.
    case stream
    /// A known kind of file that is not supported.
    case notRead(String)
    /// The recording has fewer devices than the number asked for.
    case noSuchDevice(number: Int, count: Int)
    /// The events have no times, as from `getevent` without `-t`, or messages without them.
    case noTimes
    /// The format is known, but almost nothing could be read: the first damaged line, and how many there are.
    case notUnderstood(DamagedLine, count: Int)
    /// A device description does not describe a device with positions.
    case noDevice

    /// One line for humans.
    public var description: String {
        switch self {
        case .empty: return "the file is empty"
        case .unknown(let beginning):
            let known = RecordingFormat.allCases.map(\.rawValue).joined(separator: ", ")
            return
                "this is neither a trace nor a recording of touches: it begins with \"\(beginning)\". Known formats: "
                + "\(known); \"gimbal tour\" reads tours"
        case .noHeader:
            return
                "this is a trace without its header: a trace begins with a line such as {\"type\":\"trace\",\"version\":1}, and "
                + "these are only the lines after it"
        case .stream:
            return "this is a camera's stream, not a trace: gimbal expect and gimbal diff read it"
        case .notRead(let name): return "this is \(name), which cannot be read"
        case .noSuchDevice(let number, let count):
            return "there is no device \(number) in it: \(count == 1 ? "it has one" : "it has \(count)")"
        case .noTimes:
            return
                "these events have no times: record them with times, as getevent -lt does, or give the "
                + "frames per second, such as --rate 90"
        case .notUnderstood(let first, let count):
            let lines = count == 1 ? "line \(first.line)" : "\(count) lines, such as line \(first.line)"
            return "this could not be understood: \(lines): \(first.excerpt)"
        case .noDevice: return "this describes no device that reports positions"
        }
    }

    /// Creates the error for an unrecognized file that begins with these bytes.
    init(_ beginning: Span<UInt8>) {
        func isBreak(_ byte: UInt8) -> Bool { byte == 0x0a || byte == 0x0d }
        let start = beginning.indices.first { !Scan.isSpace(beginning[$0]) && !isBreak(beginning[$0]) }
        let text = beginning.extracting((start ?? beginning.count)...)
        let line = text.extracting(..<(text.indices.first { isBreak(text[$0]) } ?? text.count))
        if text.count == 0 {
            self = .empty
        } else if let name = OtherFiles.name(of: text) {
            self = .notRead(name)
        } else if (try? RequestDecoder.requests(of: line)) != nil {
            self = .noHeader
        } else if MessageType(of: line.indices.map { line[$0] }) != nil {
            self = .stream
        } else {
            self = .unknown(beginning: Scan.excerpt(line))
        }
    }
}
