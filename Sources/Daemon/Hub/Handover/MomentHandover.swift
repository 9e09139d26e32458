// A camera in the middle of things, from process to process: what comes back goes on with the same bytes.

import Gestures
import MapCamera
import GimbalProtocol
import Touches

extension HostedCamera.Moment {
    func write(to out: inout FieldWriter) {
        var list = NumberList()
        camera.write(to: &list)
        out.put(MomentField.camera, doubles: list.numbers)
        let on = gestures.settings
        let switches = [
            on.scroll, on.zoom, on.rotate, on.tilt, on.scrollDuringRotateOrZoom, on.fling, on.inertia,
        ]
        out.put(MomentField.settings, doubles: switches.map { $0 ? 1 : 0 })
        for (key, numbers) in gestures.numbers {
            out.put(MomentField.gesture) { out in
                key.write(to: &out)
                out.put(GestureField.numbers, doubles: numbers)
            }
        }
        for surface in surfaces.all { out.put(MomentField.surface) { surface.write(to: &$0) } }
        out.put(MomentField.lastSurface, surfaces.lastNumber)
        if let motion {
            var list = NumberList()
            motion.motion.write(to: &list)
            out.put(MomentField.motion, doubles: list.numbers)
            out.put(MomentField.motionReason, motion.reason.rawValue)
        }
        if let reason { out.put(MomentField.reason, reason.rawValue) }
        out.put(MomentField.seq, seq)
        out.put(MomentField.lastTime, lastTime)
        out.put(MomentField.frames, frames)
    }

    /// Reads what ``write(to:)`` wrote; `nil` where the camera is not to be had.
    ///
    /// - Parameter setup: what the camera is set to, where that is told beside it.
    init?(_ row: FieldReader, _ setup: CameraSetup? = nil, limits: Limits) throws(FieldReader.Damage) {
        var row = row
        var camera: Camera?
        var settings = GestureSettings()
        var active: [(key: GestureKey, numbers: [Double])] = []
        var (surfaces, lastSurface): ([TouchSurfaces.Surface], Int) = ([], 0)
        var motion: Motion?
        var (motionReason, reason): (MoveReason?, MoveReason?)
        var (seq, lastTime, frames): (UInt64, Double, UInt64) = (0, 0, 0)
        while let (tag, field) = try row.next(MomentField.self) {
            switch tag {
            case .camera:
                var reader = NumberReader(try field.doubles())
                let read = Camera(&reader)
                if !reader.isDamaged { camera = read }
            case .settings:
                let on = try field.doubles().map { $0 != 0 }
                guard on.count >= 7 else { break }
                (settings.scroll, settings.zoom, settings.rotate, settings.tilt) = (on[0], on[1], on[2], on[3])
                (settings.scrollDuringRotateOrZoom, settings.fling, settings.inertia) = (on[4], on[5], on[6])
            case .gesture:
                if let (key, fields) = try GestureKey.read(field.record()) { active.append((key, fields.numbers)) }
            case .surface: surfaces.append(try TouchSurfaces.Surface(field.record()))
            case .lastSurface: lastSurface = try field.integer()
            case .motion:
                var reader = NumberReader(try field.doubles())
                let read = Motion(&reader)
                if !reader.isDamaged { motion = read }
            case .motionReason: motionReason = MoveReason(rawValue: try field.text())
            case .reason: reason = MoveReason(rawValue: try field.text())
            case .seq: seq = try field.count()
            case .lastTime: lastTime = try field.time()
            case .frames: frames = try field.count()
            }
        }
        guard let camera else { return nil }
        let told = CameraSetup(
            viewport: camera.viewport, zoomRange: camera.constraints.zoomRange,
            targetBounds: camera.constraints.targetBounds, gestures: settings)
        self.init(
            setup ?? told, camera, GestureTracker(settings, active),
            TouchSurfaces(limit: limits.cameraSurfaces, surfaces, lastNumber: lastSurface),
            motion: motion.map { CausedMotion($0, by: motionReason ?? .animation) })
        (self.reason, self.seq, self.lastTime, self.frames) = (reason, seq, lastTime, frames)
    }
}

extension GestureKey {
    /// What stands beside a key in its record.
    struct Fields {
        var numbers: [Double] = []
        var logged: Int?
    }

    func write(to out: inout FieldWriter) {
        out.put(GestureField.feed, UInt64(bitPattern: Int64(feed)))
        out.put(GestureField.kind, kind.type)
        switch label {
        case .none: break
        case .number(let number): out.put(GestureField.number, UInt64(bitPattern: number))
        case .text(let text): out.put(GestureField.text, text)
        }
    }

    /// - Returns: `nil` for a gesture of a kind that only a later version knows.
    static func read(_ row: FieldReader) throws(FieldReader.Damage) -> (key: GestureKey, fields: Fields)? {
        var row = row
        var (feed, word): (Int?, String?)
        var label = Label.none
        var fields = Fields()
        while let (tag, field) = try row.next(GestureField.self) {
            switch tag {
            case .feed: feed = Int(Int64(bitPattern: try field.number()))
            case .kind: word = try field.text()
            case .text: label = .text(try field.text())
            case .number: label = .number(Int64(bitPattern: try field.number()))
            case .numbers: fields.numbers = try field.doubles()
            case .logged: fields.logged = try field.integer()
            }
        }
        guard let feed, let word else { throw FieldReader.Damage() }
        guard let kind = GestureKind.allCases.first(where: { $0.type == word }) else { return nil }
        return (GestureKey(feed: feed, kind: kind, label: label), fields)
    }
}
