// The formats of recordings, and why a file cannot be read as one.

import GimbalProtocol

/// The tools and shapes whose recordings can be read.
public enum RecordingFormat: String, CaseIterable, Sendable {
    /// evemu-record, and evemu-describe alone.
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
    /// The kernel's own events, as they are read from a device.
    case inputEvents = "input events"
    /// TouchEvents or PointerEvents of a web page.
    case webTouches = "touches of a web page"
    /// `Input.dispatchTouchEvent` messages to Chrome.
    case devTools = "Chrome DevTools touches"
    /// The actions of a WebDriver script.
    case webDriver = "WebDriver actions"
    /// Sessions of web pages by rrweb.
    case rrweb = "rrweb"
    /// MotionEvents that an Android program logs.
    case motionEvents = "Android MotionEvents"
    /// Gimbal's own.
    case trace = "Gimbal trace"

    /// The format of the only recordings that this line can stand in.
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

    /// Whether a file with this line as its first begins a trace, be the header right or not.
    package static func isHeader(_ line: Span<UInt8>) -> Bool {
        guard Scan.begins(line, with: "{") else { return false }
        var decoder = RequestDecoder()
        do throws(Rejection) {
            guard case .trace = try decoder.decode(line).first?.body else { return false }
            return true
        } catch {
            return error.isHeader
        }
    }
}

/// Why a file cannot be read at all.
public enum RecordingError: Error, Equatable, CustomStringConvertible {
    /// There is nothing in it.
    case empty
    /// Nothing that is known was found; this is how it begins.
    case unknown(beginning: String)
    /// A trace that lacks its first line.
    case noHeader
    /// Of a kind that is known and not read.
    case notRead(String)
    /// The recording has fewer devices than the one that is asked for.
    case noSuchDevice(number: Int, count: Int)
    /// The events have no times: those of `getevent` without `-t`, or of messages that tell none.
    case noTimes
    /// It is of a known format, and yet nearly nothing in it could be read: the first such line, and how many there are.
    case notUnderstood(DamagedLine, count: Int)
    /// What should describe a device does not.
    case noDevice

    /// One line for people.
    public var description: String {
        switch self {
        case .empty: return "the file is empty"
        case .unknown(let beginning):
            let known = RecordingFormat.allCases.map(\.rawValue).joined(separator: ", ")
            return "this is no recording of touches: it begins with \"\(beginning)\". Known are: \(known)"
        case .noHeader:
            return
                "this is a trace without its header: it begins with a line such as {\"type\":\"trace\",\"version\":1}, and "
                + "here are only the lines that come after it"
        case .notRead(let name): return "this is \(name), which is not read"
        case .noSuchDevice(let number, let count):
            return "there is no device \(number) in it: \(count == 1 ? "it has one" : "it has \(count)")"
        case .noTimes:
            return
                "these events have no times: record them with times, as getevent -lt does, or tell how many frames a "
                + "second there were, such as --rate 90"
        case .notUnderstood(let first, let count):
            let lines = count == 1 ? "line \(first.line)" : "\(count) lines, such as line \(first.line)"
            return "this could not be understood: \(lines): \(first.excerpt)"
        case .noDevice: return "this describes no device that tells positions"
        }
    }

    /// The reason against a file that begins with these bytes and is not known.
    init(_ beginning: Span<UInt8>) {
        var index = 0
        while index < beginning.count, Scan.isSpace(beginning[index]) || [0x0a, 0x0d].contains(beginning[index]) {
            index += 1
        }
        let text = beginning.extracting(index...)
        if text.count == 0 {
            self = .empty
        } else if let name = OtherFiles.name(of: text) {
            self = .notRead(name)
        } else {
            var end = 0
            while end < text.count, text[end] != 0x0a, text[end] != 0x0d { end += 1 }
            let line = text.extracting(..<end)
            self = Self.isRequest(line) ? .noHeader : .unknown(beginning: Scan.excerpt(line))
        }
    }

    private static func isRequest(_ line: Span<UInt8>) -> Bool {
        var decoder = RequestDecoder()
        return (try? decoder.decode(line)) != nil
    }
}
