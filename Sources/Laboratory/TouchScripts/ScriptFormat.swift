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
        let text =
            switch self {
            case .webdriver: Self.webdriver(script)
            case .devtools: Self.devtools(script.script)
            case .web: script.script.webTouches
            case .evemu: Self.evemu(script)
            case .uinputScript: Self.uinputScript(script)
            }
        return Array(text.utf8)
    }

    /// The format to read the same fingers back from.
    package var readable: ScriptFormat { self == .uinputScript ? .evemu : self }

    // MARK: WebDriver

    /// Writes a source for each finger. A tick is a move or a rest of all of them, and at its end one may land or lift,
    /// which takes no time. Landing takes two actions, because the position comes first.
    private static func webdriver(_ script: CanonicalScript) -> String {
        var sources = [[String]](repeating: [], count: max(script.slots, 1))
        func pause(_ durationMs: Int) -> String { #"{"type":"pause","duration":\#(durationMs)}"# }
        func move(to position: ScreenPoint, for durationMs: Int) -> String {
            #"{"type":"pointerMove","duration":\#(durationMs),"origin":"viewport",\#(place(position))}"#
        }
        /// Adds an action of each finger, all at the same time.
        func add(_ action: (Int) -> String) {
            for slot in sources.indices { sources[slot].append(action(slot)) }
        }
        for tick in script.ticks {
            let (before, now) = (tick.before, tick.fingers)
            let moves = zip(before, now).map { $0 != nil && $1 != nil && $0 != $1 }
            let asked = moves.contains(true) ? BrowserTick.moveMs : BrowserTick.restMs(tick.count)
            add { slot in
                guard let position = now[slot], moves[slot] else { return pause(asked) }
                return move(to: position, for: asked)
            }
            for slot in sources.indices where (before[slot] == nil) != (now[slot] == nil) {
                if let position = now[slot] {
                    add { $0 == slot ? move(to: position, for: 0) : pause(0) }
                    add { $0 == slot ? #"{"type":"pointerDown","button":0}"# : pause(0) }
                } else {
                    add { $0 == slot ? #"{"type":"pointerUp","button":0}"# : pause(0) }
                }
            }
        }
        let pointers = sources.enumerated().map { slot, actions in
            #"{"type":"pointer","id":"finger\#(slot + 1)","parameters":{"pointerType":"touch"},"#
                + #""actions":[\#(actions.joined(separator: ","))]}"#
        }
        // Drivers ignore other members.
        return #"{"actions":[\#(pointers.joined(separator: ","))],\#(script.script.told)}"# + "\n"
    }

    private static func place(_ position: ScreenPoint) -> String {
        #""x":\#(json(position.x)),"y":\#(json(position.y))"#
    }

    // MARK: Chrome

    /// Writes the viewport, in whole pixels for Chrome, and then messages as Chrome requires: with all points that are
    /// down, or those that lift; the message that lifts the last ones must have none.
    private static func devtools(_ script: FingerScript) -> String {
        let (width, height) = (json(script.viewport.width.rounded(.up)), json(script.viewport.height.rounded(.up)))
        var text = #"""
            {"method":"Emulation.setDeviceMetricsOverride","params":{"width":\#(width),"height":\#(height),\#
            "deviceScaleFactor":1,"mobile":true\#(script.toldHeader)}}

            """#
        var before: [Touch] = []
        for frame in script.frames where frame.touches != before {
            let (now, old) = (Set(frame.touches.map(\.id)), Set(before.map(\.id)))
            let lifted = now.isEmpty ? [] : before.filter { !now.contains($0.id) }
            let type = now.isEmpty || !lifted.isEmpty ? "touchEnd" : now == old ? "touchMove" : "touchStart"
            let points = (lifted.isEmpty ? frame.touches : lifted).map { touch in
                #"{\#(place(touch.position)),"id":\#(touch.id)}"#
            }
            text += #"""
                {"method":"Input.dispatchTouchEvent","params":{"type":"\#(type)",\#
                "touchPoints":[\#(points.joined(separator: ","))],\#
                "timestamp":\#(json((frame.timeMs * 1000).rounded() / 1e6))}}

                """#
            before = frame.touches
        }
        return text
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
            text += "\(ToldHeader.comment)\(json(.object(header.members)))\n"
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

    private static func uinputScript(_ script: CanonicalScript) -> String {
        var text = ""
        func write(_ command: String, _ members: String) {
            text += #"{"id":1,"command":"\#(command)",\#(members)}"# + "\n"
        }
        let axes = axes(script)
        let ranges = axes.map { axis in
            #"{"code":\#(axis.code),"info":{"value":0,"minimum":0,"maximum":\#(axis.most),"fuzz":0,"flat":0,"#
                + #""resolution":\#(axis.resolution)}}"#
        }
        // The numbers of the kernel's requests for a new device: UI_SET_EVBIT is 100, and so on.
        write(
            "register",
            #"""
            "name":"Gimbal touchscreen","vid":0,"pid":0,"bus":"usb","configuration":[{"type":100,"data":[1,3]},\#
            {"type":101,"data":[330]},{"type":103,"data":[\#(list(axes.map(\.code)))]},{"type":110,"data":[1]}],\#
            "abs_info":[\#(ranges.joined(separator: ","))]
            """#)
        write("delay", #""duration":\#(registrationMs)"#)
        var last = 0
        for report in reports(script) {
            let time = Int(report.timeMs.rounded())
            if time > last { write("delay", #""duration":\#(time - last)"#) }
            last = time
            write("inject", #""events":[\#(list(report.events.flatMap { [$0.0, $0.1, $0.2] }))]"#)
        }
        return text
    }

    private static func list(_ numbers: [Int]) -> String { numbers.map(String.init).joined(separator: ",") }

    private static func hex(_ value: Int, _ width: Int) -> String { padded(String(value, radix: 16), width) }

    private static func padded(_ digits: String, _ width: Int) -> String {
        String(repeating: "0", count: max(width - digits.count, 0)) + digits
    }
}
