// A canonical script in the words of the tools that perform it. Each can be read back by Gimbal.

import GimbalProtocol
import MapCamera

/// A tool's own form of a script.
package enum ScriptFormat: String, CaseIterable, Sendable {
    /// The body of WebDriver's "Perform Actions", as chromedriver, geckodriver and Appium take it.
    case webdriver
    /// `Input.dispatchTouchEvent` messages to Chrome, one a line.
    case devtools
    /// TouchEvents of a page, one a line.
    case web
    /// A recording for evemu-play.
    case evemu

    /// The script in this form.
    package func bytes(of script: CanonicalScript) -> [UInt8] {
        switch self {
        case .webdriver: Self.webdriver(script).bytes + [0x0a]
        case .devtools: Self.devtools(script.script)
        case .web: script.script.webTouches
        case .evemu: Array(Self.evemu(script).utf8)
        }
    }

    // MARK: WebDriver

    /// A source for each finger. A tick is a move or a rest of all of them; landing takes two, for the place comes first.
    private static func webdriver(_ script: CanonicalScript) -> JSONValue {
        var sources = [[JSONValue]](repeating: [], count: max(script.slots, 1))
        var before = [ScreenPoint?](repeating: nil, count: sources.count)
        func pause(_ durationMs: Int) -> JSONValue {
            .object(["type": .string("pause"), "duration": .number(Double(durationMs))])
        }
        /// Adds what each finger does at once.
        func add(_ action: (Int) -> JSONValue) {
            for slot in sources.indices { sources[slot].append(action(slot)) }
        }
        for tick in script.ticks {
            let now = sources.indices.map { $0 < tick.fingers.count ? tick.fingers[$0] : nil }
            let isPlain = tick.durationMs == CanonicalScript.tickMs
            let asked = isPlain ? CanonicalScript.askedMs : Int(tick.durationMs)
            for slot in sources.indices where (before[slot] == nil) != (now[slot] == nil) {
                if let place = now[slot] {
                    add { $0 == slot ? Self.move(to: place, for: 0) : pause(0) }
                    add { $0 == slot ? .object(["type": .string("pointerDown"), "button": .number(0)]) : pause(0) }
                } else {
                    add { $0 == slot ? .object(["type": .string("pointerUp"), "button": .number(0)]) : pause(0) }
                }
            }
            add { slot in
                guard let place = now[slot], let old = before[slot], place != old else { return pause(asked) }
                return Self.move(to: place, for: asked)
            }
            before = now
        }
        let pointers = sources.enumerated().map { slot, actions in
            JSONValue.object([
                "type": .string("pointer"), "id": .string("finger\(slot + 1)"),
                "parameters": .object(["pointerType": .string("touch")]), "actions": .array(actions),
            ])
        }
        return .object(["actions": .array(pointers)])
    }

    private static func move(to place: ScreenPoint, for durationMs: Int) -> JSONValue {
        .object([
            "type": .string("pointerMove"), "duration": .number(Double(durationMs)), "origin": .string("viewport"),
            "x": .number(place.x),
            "y": .number(place.y),
        ])
    }

    // MARK: Chrome

    /// Each message has all points that are there, as Chrome wants them.
    private static func devtools(_ script: FingerScript) -> [UInt8] {
        var line = LineWriter()
        var before: [Int] = []
        for frame in script.frames where !(frame.touches.isEmpty && before.isEmpty) {
            let now = frame.touches.map(\.id)
            let type = now.isEmpty ? "touchEnd" : Set(now).isSubset(of: before) ? "touchMove" : "touchStart"
            line.write(
                JSONValue.object([
                    "method": .string("Input.dispatchTouchEvent"),
                    "params": .object([
                        "type": .string(type),
                        "touchPoints": .array(
                            frame.touches.map { touch in
                                .object([
                                    "x": .number(touch.position.x), "y": .number(touch.position.y),
                                    "id": .number(Double(touch.id)),
                                ])
                            }),
                        "timestamp": .number((frame.timeMs * 1000).rounded() / 1e6),
                    ]),
                ]))
            line.write("\n")
            before = now
        }
        return line.bytes
    }

    // MARK: evemu

    private static func evemu(_ script: CanonicalScript) -> String {
        let (width, height) = (Int(script.viewport.width.rounded(.up)), Int(script.viewport.height.rounded(.up)))
        let slots = max(script.slots, 1) - 1
        var text = "# EVEMU 1.3\nN: Gimbal touchscreen\nI: 0003 0000 0000 0000\n"
        text += "P: 02 00 00 00 00 00 00 00\nB: 00 0b 00 00 00 00 00 00 00\n"
        // BTN_TOUCH is bit 330.
        text += "B: 01" + (0..<96).map { $0 == 41 ? " 04" : " 00" }.joined() + "\n"
        for (code, most) in [
            (0x00, width), (0x01, height), (0x2f, slots), (0x35, width), (0x36, height), (0x39, 65535),
        ] {
            text += "A: \(hex(code, 2)) 0 \(most) 0 0 0\n"
        }
        var before: [ScreenPoint?] = []
        var number = 0
        for frame in script.timed {
            var events: [(Int, Int, Int)] = []
            let wasDown = before.contains { $0 != nil }
            for slot in 0..<max(frame.fingers.count, before.count) {
                let old = slot < before.count ? before[slot] : nil
                let now = slot < frame.fingers.count ? frame.fingers[slot] : nil
                guard old != now else { continue }
                events.append((3, 0x2f, slot))
                if old == nil {
                    events.append((3, 0x39, number))
                    number = (number + 1) % 65536
                }
                if let now {
                    events += [(3, 0x35, Int(now.x)), (3, 0x36, Int(now.y))]
                } else {
                    events.append((3, 0x39, -1))
                }
            }
            before = frame.fingers
            let isDown = before.contains { $0 != nil }
            if isDown != wasDown { events.append((1, 0x14a, isDown ? 1 : 0)) }
            guard !events.isEmpty else { continue }
            let micros = Int((frame.timeMs * 1000).rounded())
            let time = "\(micros / 1_000_000)." + padded("\(micros % 1_000_000)", 6)
            for (type, code, value) in events + [(0, 0, 0)] {
                text += "E: \(time) \(hex(type, 4)) \(hex(code, 4)) \(value)\n"
            }
        }
        return text
    }

    private static func hex(_ value: Int, _ width: Int) -> String { padded(String(value, radix: 16), width) }

    private static func padded(_ digits: String, _ width: Int) -> String {
        String(repeating: "0", count: max(width - digits.count, 0)) + digits
    }
}

extension CanonicalScript {
    /// The fingers with the times at which they are there.
    fileprivate var timed: [(timeMs: Double, fingers: [ScreenPoint?])] {
        var time = 0.0
        return ticks.map { tick in
            time += tick.durationMs
            return (time, tick.fingers)
        }
    }
}
