// `gimbal inspect`: shows what is in a recording or a trace.

import ArgumentParser
import GimbalClient
import TouchTraces

struct Inspect: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Show what is in a recording or a trace.",
        """
        Prints the format, the device, how many fingers there were and for how long, which gestures they made, and \
        what is odd about the recording. Times of gestures are those of a replay and of "gimbal plot"; the output says \
        where in the file they begin to count. If there are several traces in one file, each is shown separately. ^C \
        ends a recording that comes from a pipe or a device, and it is shown. \(RecordingOptions.note)

        Examples:
          gimbal inspect pinch.evemu
          gimbal inspect --json pinch.evemu | jq '.gestures[].type'
          libinput record --all | gimbal inspect -
        """)

    @OptionGroup var options: RecordingOptions

    @Flag(help: "Print one line of JSON.")
    var json = false

    @Argument(help: "The recording or trace; - is standard input.", completion: .file())
    var recording: String

    func run() throws {
        let source = try TraceSource(InputFile(recording, endsBySignal: true), options)
        let own = TraceSections()
        var bar = StatusLine(isWanted: true)
        defer { bar.clear() }
        while !source.isAtEnd {
            let trace = try source.read()
            if source.format == .trace { own.read(trace) }
            bar.update { source.progress().text($0) }
        }
        if source.format == .trace { own.finish() }
        bar.clear()
        let report = InspectReport(
            source, source.format == .trace ? own : nil, isSizeGiven: options.viewport != nil)
        let output = Output()
        if json {
            output.add(report.json.bytes[...])
        } else {
            for row in report.rows { output.add(row) }
        }
        try output.flush()
        // A trace with damaged lines and no valid ones is an error.
        let isUnderstood = own.notes.damagedCount == 0 || own.sections.contains { $0.findings.frames > 0 }
        if source.format == .trace, !isUnderstood { throw ExitCode(.dataError) }
    }
}

/// The facts about a recording, for people and for programs.
private struct InspectReport {
    private let source: TraceSource
    /// Whether an option gives the size of the device's surface.
    private let isSizeGiven: Bool
    /// The findings in the recording, or in each of its traces.
    private let sections: [Section]
    private typealias Section = (trace: TraceSections.Section?, findings: Findings, originMs: Double?)
    private let damage: RecordingNotes

    init(_ source: TraceSource, _ traces: TraceSections?, isSizeGiven: Bool) {
        (self.source, self.isSizeGiven) = (source, isSizeGiven)
        damage = traces?.notes ?? source.notes
        sections =
            traces?.sections.map { ($0, $0.findings, $0.origin) }
            ?? [(nil, source.findings, source.converter.originMs)]
    }

    private var quirks: [(Quirk, Int)] { Quirk.allCases.map { ($0, source.notes[$0]) }.filter { $0.1 > 0 } }

    // MARK: For people

    var rows: [PrintableText] {
        var rows = [titled("file", PrintableText(source.name)), titled("format", formatText)]
        if let device = source.converter.reader.device { rows.append(titled("device", deviceText(device))) }
        if let viewport = source.converter.reader.surface?.viewport {
            rows.append(titled("viewport", "\(fixed(viewport.width, 0)) by \(fixed(viewport.height, 0)) points"))
        }
        for (index, section) in sections.enumerated() {
            if sections.count > 1, let trace = section.trace {
                let camera: PrintableText = trace.camera.map { ", camera \($0)" } ?? ""
                rows.append(
                    titled("trace", "\(index + 1) of \(sections.count), from line \(grouped(trace.line))\(camera)"))
            }
            rows += self.rows(of: section)
        }
        let leftOut = source.notes.devicesLeftOut.map { number -> PrintableText in
            "fingers on device \(number), left out: --device-number \(number) selects them"
        }
        let noticed = quirks.filter { $0.0.matters }.map { PrintableText($0.text($1, isSizeGiven: isSizeGiven)) }
        rows += table("noticed", leftOut + noticed, more: 0)
        let lines = damage.damaged.map { "line \($0.line): \($0.excerpt)" as PrintableText }
        return rows + table("damaged", lines, more: damage.damagedCount - lines.count)
    }

    private func rows(of section: Section) -> [PrintableText] {
        let findings = section.findings
        let frames = counted(findings.frames, source.format == .trace ? "line" : "frame")
        var rows = [titled("length", "\(frames) in \(clock(milliseconds: findings.durationMs, 3))")]
        if findings.landed > 0 {
            rows.append(titled("fingers", "\(grouped(findings.landed)), at most \(findings.mostFingers) at a time"))
        }
        if let origin = section.originMs {
            rows.append(titled("times", "count from \(clock(milliseconds: origin, 3)) of the file"))
        }
        let more = findings.gestureCount - findings.gestures.count
        return rows + table("gestures", findings.gestures.map(text), more: more)
    }

    private func table(_ title: PrintableText, _ texts: [PrintableText], more: Int) -> [PrintableText] {
        let all: [PrintableText] = texts.isEmpty ? ["none"] : more > 0 ? texts + ["and \(grouped(more)) more"] : texts
        return all.enumerated().map { titled($0 == 0 ? title : "", $1) }
    }

    private var formatText: PrintableText {
        let protocolText: PrintableText
        switch source.notes.contactProtocol {
        // HID has its own ways to report contacts.
        case .slots where source.format == .hidRecorder: protocolText = ""
        case .slots: protocolText = ", protocol B"
        case .wholeFrames: protocolText = ", protocol A"
        case .single: protocolText = ", one contact"
        case nil: protocolText = ""
        }
        return "\(source.format?.rawValue ?? "")\(protocolText)"
    }

    private func deviceText(_ device: DeviceDescription) -> PrintableText {
        let name = device.name.map { PrintableText($0) } ?? "without a name"
        guard let size = device.sizeMm else { return name }
        return "\(name), \(fixed(size.width, 0)) by \(fixed(size.height, 0)) mm"
    }

    private func text(_ gesture: FoundGesture) -> PrintableText {
        let start = padded("\(clock(milliseconds: gesture.startMs, 2))", 8)
        let end: PrintableText = gesture.endMs.map { "\(clock(milliseconds: $0, 2))" } ?? "its end"
        let time: PrintableText = gesture.kind.isTap ? "\(start)          " : "\(start) to \(filled(end, 6))"
        let lost: PrintableText = gesture.isCancelled ? ", cancelled" : ""
        return "\(filled("\(gesture.kind.type)", 16))\(time)  \(amount(gesture))\(lost)"
    }

    private func amount(_ gesture: FoundGesture) -> PrintableText {
        switch gesture.value {
        case .pan(let way): "\(fixed(way.x, 0)), \(fixed(way.y, 0)) points"
        case .pinch(let scale): "to \(fixed(scale, 3)) times"
        case .rotate(let degrees): "\(fixed(abs(degrees), 1)) degrees \(degrees < 0 ? "counterclockwise" : "clockwise")"
        case .tilt(let way), .oneFingerZoom(let way): "\(fixed(abs(way), 0)) points \(way < 0 ? "up" : "down")"
        case .position(let position):
            "to \(fixed(position.target.latitude, 4)), \(longitude(position.target.longitude, 4)), zoom \(fixed(position.zoom, 2))"
        case nil: ""
        }
    }

    // MARK: For programs

    var json: JSONValue {
        var members: JSONObject = [
            "file": .string(source.name), "format": .string(source.format?.rawValue ?? ""),
            "quirks": .object(JSONObject(quirks.map { ("\($0)", .number(Double($1))) })),
            "devicesLeftOut": .array(source.notes.devicesLeftOut.map { .number(Double($0)) }),
            "damagedCount": .number(Double(damage.damagedCount)),
            "damaged": .array(
                damage.damaged.map { .object(["line": .number(Double($0.line)), "excerpt": .string($0.excerpt)]) }),
        ]
        // Several traces are described one by one, next to the members that they share.
        if sections.count == 1 {
            for member in json(sections[0]).members { members[member.name] = member.value }
        } else {
            members["traces"] = .array(
                sections.map { section in
                    var trace = json(section)
                    if let line = section.trace?.line { trace["line"] = .number(Double(line)) }
                    if let camera = section.trace?.camera { trace["camera"] = .string(camera) }
                    return .object(trace)
                })
        }
        if let viewport = source.converter.reader.surface?.viewport {
            members["viewport"] = .object(["width": .number(viewport.width), "height": .number(viewport.height)])
        }
        if let device = source.converter.reader.device {
            var described: JSONObject = ["semiMT": .bool(device.isSemiMT)]
            if let name = device.name { described["name"] = .string(name) }
            if let size = device.sizeMm {
                described["widthMm"] = .number(size.width)
                described["heightMm"] = .number(size.height)
            }
            members["device"] = .object(described)
        }
        return .object(members)
    }

    private func json(_ section: Section) -> JSONObject {
        let findings = section.findings
        var members: JSONObject = [
            "frames": .number(Double(findings.frames)), "durationMs": .number(milliseconds(findings.durationMs)),
            "fingers": .number(Double(findings.landed)), "fingersAtOnce": .number(Double(findings.mostFingers)),
            "gestures": .array(findings.gestures.map(json)), "gestureCount": .number(Double(findings.gestureCount)),
        ]
        if let origin = section.originMs { members["originMs"] = .number(milliseconds(origin)) }
        return members
    }

    private func json(_ gesture: FoundGesture) -> JSONValue {
        var members: JSONObject = [
            "type": .string(gesture.kind.type), "startMs": .number(milliseconds(gesture.startMs)),
            "cancelled": .bool(gesture.isCancelled),
        ]
        if let end = gesture.endMs { members["endMs"] = .number(milliseconds(end)) }
        // The value has the members of a line of a trace.
        let event = GestureEvent(gesture.kind, .changed, gesture.value)
        let line = (try? JSONValue(ClientRequest.gesture(event).line()))?.object ?? [:]
        for member in line.members where member.name != "phase" { members[member.name] = member.value }
        return .object(members)
    }

    /// Rounds a time as times of a trace are rounded.
    private func milliseconds(_ time: Double) -> Double { (time * 1000).rounded() / 1000 }
}

extension Quirk {
    /// Whether it can change what the fingers do; the others are harmless, such as a clock that counts from 1970.
    fileprivate var matters: Bool {
        switch self {
        case .epochClock, .mixedTimes, .noSlotBeforeData, .landedTogether, .liftedTogether: false
        default: true
        }
    }

    /// Describes the quirk for people.
    fileprivate func text(_ count: Int, isSizeGiven: Bool) -> String {
        switch self {
        case .noHead:
            "the device is not described: its size is " + (isSizeGiven ? "given" : "guessed from where fingers were")
        case .epochClock: "the clock counts from 1970"
        case .mixedTimes: "\(counted(count, "frame")) with events at different times"
        case .timeWentBack: "the clock went back in \(counted(count, "frame"))"
        case .noSlotBeforeData: "data of a contact before any slot: slot 0 is assumed"
        case .landedTogether: "\(counted(count, "frame")) in which two or more fingers landed"
        case .liftedTogether: "\(counted(count, "frame")) in which two or more fingers lifted"
        case .idReplaced: "\(counted(count, "finger")) in a slot that another finger still had"
        case .downBefore: "\(counted(count, "finger")) down before the recording began"
        case .leftDown: "\(counted(count, "finger")) still down when it ended: cancelled"
        case .palm: "\(counted(count, "palm")), left out"
        case .dropped: "events were lost \(counted(count, "time")): the fingers that were down are cancelled"
        case .negative: "\(counted(count, "frame")) with negative positions"
        case .otherDevice: "\(counted(count, "event")) from other devices"
        case .noBegin: "\(counted(count, "gesture")) that had not begun"
        case .hovering: "\(counted(count, "finger")) above the surface, left out until they touch it"
        case .pen: "\(counted(count, "pen report")), left out"
        case .oneFinger: "the recorder keeps one finger and not all of its moves: gestures of several fingers are lost"
        case .unknownFinger: "another finger joined \(counted(count, "time")), and which moved is unknown: cancelled"
        case .unplaced: "\(counted(count, "finger")) whose position was never complete: not followed"
        case .recordingFollows: "\(counted(count, "more recording")) after the first"
        }
    }
}
