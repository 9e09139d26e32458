// Leases: for a time, only the holders of a lease move the camera (schema: client.take-lease, client.join-lease,
// client.end-lease, server.lease, server.lease-taken, server.lease-ended).

/// A request to take a lease, or to extend one's own.
public struct LeaseRequest: Equatable, Sendable {
    /// The duration, from now or from when the lease is granted: 1 to 3,600,000 ms.
    public var forMs: Double
    /// The description of the holder for other clients: 1 to 256 bytes.
    public var label: String?
    /// Whether to wait while another client holds the lease or plays a trace; otherwise the request is refused.
    public var wait: Bool

    /// Creates a request for a lease of so many milliseconds.
    public init(forMs: Double, label: String? = nil, wait: Bool = false) {
        (self.forMs, self.label, self.wait) = (forMs, label, wait)
    }
}

/// A camera's lease. (The messages `lease` and `lease-taken`.)
public struct CameraLease: Equatable, Sendable {
    /// The camera's name.
    public package(set) var camera: String
    /// The current time of the camera's clock in milliseconds.
    public package(set) var timeMs: Double
    /// The number by which other clients join or end it.
    public package(set) var lease: Int
    /// The end on the camera's clock, in milliseconds. If the holder plays a trace, the lease lasts until that ends.
    public package(set) var untilMs: Double
    /// The holder's description of itself.
    public package(set) var label: String?

    package init(camera: String, timeMs: Double, lease: Int, untilMs: Double, label: String?) {
        (self.camera, self.timeMs, self.lease) = (camera, timeMs, lease)
        (self.untilMs, self.label) = (untilMs, label)
    }
}

/// Why a lease ended.
public enum LeaseEndReason: String, CaseIterable, Sendable, ProtocolWord {
    /// It expired.
    case time
    /// A client ended it.
    case ended
    /// The holder disconnected.
    case disconnected
}

/// The end of a camera's lease. (The message `lease-ended`.)
public struct LeaseEnd: Equatable, Sendable {
    /// The camera's name.
    public package(set) var camera: String
    /// Milliseconds of the camera's clock.
    public package(set) var timeMs: Double
    /// The number of the lease.
    public package(set) var lease: Int
    /// Why it ended.
    public package(set) var reason: LeaseEndReason

    package init(camera: String, timeMs: Double, lease: Int, reason: LeaseEndReason) {
        (self.camera, self.timeMs, self.lease, self.reason) = (camera, timeMs, lease, reason)
    }
}

// MARK: Members

extension ClosedRange<Double> {
    /// The allowed durations of a lease, in milliseconds.
    package static var leases: Self { 1...durations.upperBound }
}

extension MemberRule where Self == IntegerRule {
    /// The number of a lease.
    static var lease: Self { IntegerRule(wanted: "must be a lease number: a non-negative integer") }
}

extension LeaseRequest: Described {
    package static let blank = LeaseRequest(forMs: 1)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.forMs, &forMs, .number(in: .leases))
        try visitor.member(.label, &label, .markerLabel)
        try visitor.member(.wait, &wait, .flag, unless: false)
    }
}

extension CameraLease: Described {
    package static let blank = CameraLease(camera: "", timeMs: 0, lease: 0, untilMs: 0, label: nil)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.camera, &camera, .cameraName)
        try visitor.member(.timeMs, &timeMs, .time)
        try visitor.member(.lease, &lease, .lease)
        try visitor.member(.untilMs, &untilMs, .time)
        try visitor.member(.label, &label, .text())
    }
}

extension LeaseEnd: Described {
    package static let blank = LeaseEnd(camera: "", timeMs: 0, lease: 0, reason: .time)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.camera, &camera, .cameraName)
        try visitor.member(.timeMs, &timeMs, .time)
        try visitor.member(.lease, &lease, .lease)
        try visitor.member(.reason, &reason, WordRule())
    }
}
