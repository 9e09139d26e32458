// How well a screen of a wall keeps in step, as its node publishes it, and as a client of the daemon tells the page.

import GimbalProtocol

/// A camera that follows one of another node, each position at its time.
package struct Screen: Described, Equatable, Sendable {
    package var node: String
    package var camera: String
    /// How long before its time the least early position arrived in ten seconds, in milliseconds; negative if it came
    /// too late. `nil` if none arrived.
    package var leadMs: Double?
    /// How many of them came too late.
    package var late: Int
    /// For how many milliseconds nothing has been heard of it, if that is too long.
    package var silentMs: Double?
    /// How good its machine's clock is; `nil` if unknown. An unsynchronized clock has no error.
    package var synchronized: Bool?
    package var errorMs: Double?

    package static let blank = Screen(node: "", camera: "", lateness: (nil, 0), clock: nil)

    package init(node: String, camera: String, lateness: (leadMs: Double?, late: Int), clock: ClockQuality?) {
        (self.node, self.camera) = (node, camera)
        (leadMs, late) = lateness
        synchronized = clock?.isSynchronized
        errorMs = clock.flatMap { $0.isSynchronized ? $0.maximumError / 1000 : nil }
    }

    /// A day, in milliseconds: no delay and no error is longer.
    private static let day = 86_400_000.0

    package var isPossible: Bool {
        Request.isCameraName(node.utf8) && Request.isCameraName(camera.utf8)
            && (late > 0) == (leadMs ?? 0 < 0) && late >= 0 && leadMs.map { -Self.day...Self.day ~= $0 } ?? true
            && [silentMs, errorMs].allSatisfy { $0.map { 0...Self.day ~= $0 } ?? true }
    }

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.node, &node, .text())
        try visitor.member(.camera, &camera, .text())
        try visitor.member(.leadMs, &leadMs, .time)
        try visitor.member(.late, &late, .count)
        try visitor.member(.silentMs, &silentMs, .time)
        try visitor.member(.synchronized, &synchronized, .flag)
        try visitor.member(.errorMs, &errorMs, .time)
    }
}

/// What a client tells the daemon's other clients about screens in its `hello`.
package struct ScreenList: Described {
    package var screens: [Screen]

    /// The most screens that are told.
    package static let most = 64
    package static let blank = ScreenList(screens: [])

    package init(screens: [Screen]) { self.screens = screens }

    /// Reads what a client says of itself; `nil` if that is something else, or no screen can be so.
    package init?(about: String) {
        guard let json = try? JSONValue(about.utf8), json["type"] == .string("screens"), let told = try? Self(json),
            told.screens.count <= Self.most
        else { return nil }
        self = told
    }

    /// The line without its LF.
    package var line: [UInt8] {
        var line = LineWriter(capacity: 512)
        line.isRounded = true
        line.write("{\"type\":\"screens\"")
        line.members(of: self)
        line.write("}")
        return line.bytes
    }

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.list(.screens, &screens)
    }
}
