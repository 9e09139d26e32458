// A line that is being applied: its peer, its time, and the cameras that it has changed so far.

struct LineContext {
    let peer: Peer
    /// The hub's time.
    let now: Double
    /// The line's own time, from its first object.
    let timeMs: Double?
    /// The cameras whose batch ends with the line: nearly always one.
    private(set) var first: HostedCamera?
    private(set) var others: [HostedCamera] = []

    init(from peer: Peer, at now: Double, timeMs: Double?) { (self.peer, self.now, self.timeMs) = (peer, now, timeMs) }

    /// Adds a camera that the line has changed, or may have.
    mutating func addChanged(_ camera: HostedCamera) {
        if first == nil {
            first = camera
        } else if first !== camera, !others.contains(where: { $0 === camera }) {
            others.append(camera)
        }
    }
}
