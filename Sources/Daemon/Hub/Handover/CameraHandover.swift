// A camera of the hub from process to process, with its history and all that it is in the middle of.

import GimbalProtocol

extension HostedCamera {
    func write(to out: inout FieldWriter) {
        out.put(CameraField.state, saved.lines)
        out.put(CameraField.isEphemeral, isEphemeral)
        out.put(CameraField.clockStart, clockStart)
        out.put(CameraField.firstEntry, log.end &- seq)
        out.put(CameraField.firstSeq, firstSeq)
        out.put(CameraField.log) { log.write(to: &$0) }
        if let inputLog { out.put(CameraField.inputLog) { inputLog.write(to: &$0) } }
        out.put(CameraField.moment) { moment.write(to: &$0) }
    }

    /// A camera that goes on where ``write(to:)`` left off.
    convenience init(
        _ row: FieldReader, _ reader: inout SavedCamera.Reader, _ environment: Environment, at now: Double
    ) throws {
        let (limits, memory) = (environment.limits, environment.memory)
        var row = row
        var saved: SavedCamera?
        var isEphemeral = false
        var clockStart: Double?
        var firstSeq: UInt64 = 0
        var (log, inputLog): (EventLog?, FieldReader?)
        var moment: Moment?
        while let (tag, field) = try row.next(CameraField.self) {
            switch tag {
            case .state: saved = try reader.camera(Array(field.bytes()))
            case .isEphemeral: isEphemeral = try field.flag()
            case .clockStart: clockStart = try field.time()
            case .firstEntry: break
            case .firstSeq: firstSeq = try field.count()
            case .log: log = try EventLog.read(field.record(), limits: limits, memory: memory)
            case .inputLog: inputLog = try field.record()
            case .moment: moment = try Moment(field.record(), saved?.state.setup, limits: limits)
            }
        }
        guard let saved else { throw FieldReader.Damage() }
        let inputs = try inputLog.map {
            try InputLog($0, of: saved.state.camera, encoder: environment.encoder, limits: limits, memory: memory)
        }
        self.init(
            saved, clockStart: clockStart ?? now - saved.clock, log: log, inputLog: inputs, firstSeq: firstSeq,
            environment)
        if isEphemeral { registration = CameraRegistry.Registration(.ephemeral) }
        if let moment { restore(from: moment) }
    }
}
