// `await-idle` and `at-rest` (schema: client.await-idle, server.at-rest): a client waits until a camera rests.

import JSONLines
import MapCamera

/// A camera at rest: no gesture is active, and nothing moves it.
public struct CameraRest: Equatable, Sendable {
    /// The camera's name.
    public let camera: String
    /// The epoch that `seq` counts in; it changes when a replay has reset the camera. `nil` for a camera that does not
    /// exist.
    public let epoch: String?
    /// The `seq` of the camera's last event; 0 before the first.
    public let seq: Int
    /// Where it rests.
    public let position: CameraPosition
}

extension RequestDecoder {
    func awaitIdle(_ object: Int) throws(WireError) -> Request.Body {
        .awaitIdle(timeoutMs: try number(object, FieldPath(.timeoutMs), .timeoutMs, in: 0...3_600_000))
    }
}

extension LineWriter {
    /// Answers `await-idle`. A camera that is nowhere yet has no epoch.
    package mutating func atRest(
        camera: String, epoch: String, seq: UInt64, position: PrintedPosition, _ id: Span<UInt8>
    ) {
        open(.atRest, id)
        member("camera", camera)
        if !epoch.isEmpty { member("epoch", epoch) }
        member("seq", seq)
        member("position", position)
        close()
    }
}

extension CameraRest: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        camera = try members.get("camera")
        epoch = try members.get(ifPresent: "epoch")
        seq = try members.get("seq")
        position = try members.get("position")
    }
}
