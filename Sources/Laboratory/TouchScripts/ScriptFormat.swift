// Writes a canonical script in the formats of tools that perform it. Gimbal reads each of them except the uinput script
// back as the same fingers at the same times, with the trace's header and without options.

import GimbalProtocol
import MapCamera
import TouchTraces
import Touches

/// A tool's own format of a script.
package enum ScriptFormat: String, CaseIterable, Sendable {
    /// The body of WebDriver's "Perform Actions", as chromedriver, geckodriver and Appium take it.
    case webdriver
    /// `Input.dispatchTouchEvent` messages to Chrome, one per line.
    case devtools
    /// TouchEvents of a page, one per line.
    case web
    /// A recording for evemu-play.
    case evemu
    /// Commands for Android's `uinput`, one per line.
    case uinputScript = "uinput-script"

    /// Returns the script in this format.
    package func bytes(of script: CanonicalScript) -> [UInt8] {
        switch self {
        case .webdriver: Self.webdriver(script).bytes + [0x0a]
        case .devtools: Self.devtools(script.script)
        case .web: script.script.webTouches
        case .evemu: Array(Self.evemu(script).utf8)
        case .uinputScript: Self.uinputScript(script)
        }
    }

    /// The format to read the same fingers back from.
    package var readable: ScriptFormat { self == .uinputScript ? .evemu : self }

    // MARK: WebDriver

    /// Writes a source for each finger. A tick is a move or a rest of all of them, and at its end one may land or lift,
    /// which takes no time. Landing takes two actions, because the position comes first.
    private static func webdriver(_ script: CanonicalScript) -> JSONValue {
        var sources = [[JSONValue]](repeating: [], count: max(script.slots, 1))
        func pause(_ durationMs: Int) -> JSONValue {
            .object(["type": .string("pause"), "duration": .number(Double(durationMs))])
        }
        /// Adds an action of each finger, all at the same time.
        func add(_ action: (Int) -> JSONValue) {
            for slot in sources.indices { sources[slot].append(action(slot)) }
        }
        for tick in script.ticks {
            let (before, now) = (tick.before, tick.fingers)
            let moves = zip(before, now).map { $0 != nil && $1 != nil && $0 != $1 }
            let asked = moves.contains(true) ? BrowserTick.moveMs : BrowserTick.restMs(tick.count)
            add { slot in
                guard let position = now[slot], moves[slot] else { return pause(asked) }
                return Self.move(to: position, for: asked)
            }
            for slot in sources.indices where (before[slot] == nil) != (now[slot] == nil) {
                if let position = now[slot] {
                    add { $0 == slot ? Self.move(to: position, for: 0) : pause(0) }
                    add { $0 == slot ? .object(["type": .string("pointerDown"), "button": .number(0)]) : pause(0) }
                } else {
                    add { $0 == slot ? .object(["type": .string("pointerUp"), "button": .number(0)]) : pause(0) }
                }
            }
        }
        let pointers = sources.enumerated().map { slot, actions in
            JSONValue.object([
                "type": .string("pointer"), "id": .string("finger\(slot + 1)"),
                "parameters": .object(["pointerType": .string("touch")]), "actions": .array(actions),
            ])
        }
        // Drivers ignore other members.
        return .object(
            JSONObject([("actions", .array(pointers))] + script.script.told.members.map { ($0.name, $0.value) }))
    }

    private static func move(to position: ScreenPoint, for durationMs: Int) -> JSONValue {
        .object([
            "type": .string("pointerMove"), "duration": .number(Double(durationMs)), "origin": .string("viewport"),
            "x": .number(position.x),
            "y": .number(position.y),
        ])
    }

    // MARK: Chrome

    /// Writes the viewport, in whole pixels for Chrome, and then messages as Chrome requires: with all points that are
    /// down, or those that lift; the message that lifts the last ones must have none.
    private static func devtools(_ script: FingerScript) -> [UInt8] {
        var lines: [UInt8] = []
        var screen: JSONObject = [
            "width": .number(script.viewport.width.rounded(.up)),
            "height": .number(script.viewport.height.rounded(.up)),
            "deviceScaleFactor": .number(1), "mobile": .bool(true),
        ]
        screen["trace"] = script.told["trace"]
        lines.append(line: ["method": .string("Emulation.setDeviceMetricsOverride"), "params": .object(screen)])
        var before: [Touch] = []
        for frame in script.frames where frame.touches != before {
            let (now, old) = (Set(frame.touches.map(\.id)), Set(before.map(\.id)))
            let lifted = now.isEmpty ? [] : before.filter { !now.contains($0.id) }
            let type = now.isEmpty || !lifted.isEmpty ? "touchEnd" : now == old ? "touchMove" : "touchStart"
            let points = (lifted.isEmpty ? frame.touches : lifted).map { touch -> JSONValue in
                .object([
                    "x": .number(touch.position.x), "y": .number(touch.position.y), "id": .number(Double(touch.id)),
                ])
            }
            lines.append(line: [
                "method": .string("Input.dispatchTouchEvent"),
                "params": .object([
                    "type": .string(type), "touchPoints": .array(points),
                    "timestamp": .number((frame.timeMs * 1000).rounded() / 1e6),
                ]),
            ])
            before = frame.touches
        }
        return lines
    }

    // MARK: Linux touchscreen

    /// Units per millimetre, and per point, at 160 points per inch: whole points and sizes are whole units.
    private static let resolution = 6400
    private static let unitsPerPoint = Double(resolution) * 25.4 / 160

    /// Returns the axes of a touchscreen: codes, maximum values and units per millimetre.
    private static func axes(_ script: CanonicalScript) -> [(code: Int, most: Int, resolution: Int)] {
        let (width, height) = (units(script.viewport.width), units(script.viewport.height))
        let slots = max(script.slots, 1) - 1
        return [
            (0x00, width, resolution), (0x01, height, resolution), (0x2f, slots, 0), (0x35, width, resolution),
            (0x36, height, resolution), (0x39, 65535, 0),
        ]
    }

    private static func units(_ points: Double) -> Int { Int((points * unitsPerPoint).rounded()) }

    /// Returns a touchscreen's reports: the time in milliseconds, and the events as type, code and value.
    private static func reports(_ script: CanonicalScript) -> [(timeMs: Double, events: [(Int, Int, Int)])] {
        var reports: [(timeMs: Double, events: [(Int, Int, Int)])] = []
        var number = 0
        for tick in script.ticks {
            var events: [(Int, Int, Int)] = []
            for (slot, (old, now)) in zip(tick.before, tick.fingers).enumerated() where old != now {
                events.append((3, 0x2f, slot))
                if old == nil {
                    events.append((3, 0x39, number))
                    number = (number + 1) % 65536
                }
                if let now {
                    events += [(3, 0x35, units(now.x)), (3, 0x36, units(now.y))]
                } else {
                    events.append((3, 0x39, -1))
                }
            }
            let (wasDown, isDown) = (tick.before.contains { $0 != nil }, tick.fingers.contains { $0 != nil })
            if isDown != wasDown { events.append((1, 0x14a, isDown ? 1 : 0)) }
            if !events.isEmpty { reports.append((tick.timeMs, events + [(0, 0, 0)])) }
        }
        return reports
    }

    private static func evemu(_ script: CanonicalScript) -> String {
        var text = "# EVEMU 1.3\n"
        if let header = script.header {
            text += "\(ToldHeader.comment)\(String(decoding: JSONValue.object(header.members).bytes, as: UTF8.self))\n"
        }
        text += "N: Gimbal touchscreen\nI: 0003 0000 0000 0000\n"
        text += "P: 02 00 00 00 00 00 00 00\nB: 00 0b 00 00 00 00 00 00 00\n"
        // BTN_TOUCH is bit 330.
        text += "B: 01" + (0..<96).map { $0 == 41 ? " 04" : " 00" }.joined() + "\n"
        for axis in axes(script) { text += "A: \(hex(axis.code, 2)) 0 \(axis.most) 0 0 \(axis.resolution)\n" }
        for report in reports(script) {
            let micros = Int((report.timeMs * 1000).rounded())
            let time = "\(micros / 1_000_000)." + padded("\(micros % 1_000_000)", 6)
            for (type, code, value) in report.events {
                text += "E: \(time) \(hex(type, 4)) \(hex(code, 4)) \(value)\n"
            }
        }
        return text
    }

    /// How long Android takes to register a new device, in milliseconds, with room to spare.
    private static let registrationMs = 2000

    private static func uinputScript(_ script: CanonicalScript) -> [UInt8] {
        var lines: [UInt8] = []
        func write(_ command: String, _ members: JSONObject) {
            var object: JSONObject = ["id": .number(1), "command": .string(command)]
            for member in members.members { object[member.name] = member.value }
            lines.append(line: object)
        }
        func bits(_ request: Int, _ numbers: [Int]) -> JSONValue {
            .object(["type": .number(Double(request)), "data": .array(numbers.map { .number(Double($0)) })])
        }
        let axes = axes(script)
        // The numbers of the kernel's requests for a new device: UI_SET_EVBIT is 100, and so on.
        write(
            "register",
            [
                "name": .string("Gimbal touchscreen"), "vid": .number(0), "pid": .number(0), "bus": .string("usb"),
                "configuration": .array([
                    bits(100, [1, 3]), bits(101, [0x14a]), bits(103, axes.map(\.code)), bits(110, [1]),
                ]),
                "abs_info": .array(
                    axes.map { axis in
                        .object([
                            "code": .number(Double(axis.code)),
                            "info": .object([
                                "value": .number(0), "minimum": .number(0), "maximum": .number(Double(axis.most)),
                                "fuzz": .number(0), "flat": .number(0),
                                "resolution": .number(Double(axis.resolution)),
                            ]),
                        ])
                    }),
            ])
        write("delay", ["duration": .number(Double(registrationMs))])
        var last = 0
        for report in reports(script) {
            let time = Int(report.timeMs.rounded())
            if time > last { write("delay", ["duration": .number(Double(time - last))]) }
            last = time
            let numbers = report.events.flatMap { [$0.0, $0.1, $0.2] }
            write("inject", ["events": .array(numbers.map { .number(Double($0)) })])
        }
        return lines
    }

    private static func hex(_ value: Int, _ width: Int) -> String { padded(String(value, radix: 16), width) }

    private static func padded(_ digits: String, _ width: Int) -> String {
        String(repeating: "0", count: max(width - digits.count, 0)) + digits
    }
}
