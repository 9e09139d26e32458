// The cameras, sorted by the bytes of their names, so that the camera of a line is found by the bytes in the line,
// without making a string. Invariant: no two cameras have the same name.

import MapCamera

struct CameraTable {
    /// All cameras, sorted by name.
    private(set) var all: [HostedCamera] = [] {
        didSet { text = nil }
    }
    /// The names as a JSON array, once it has been asked for.
    private var text: [UInt8]?

    subscript(name: String) -> HostedCamera? { self[name.utf8Span.span] }

    subscript(name: Span<UInt8>) -> HostedCamera? {
        let index = index(of: name)
        return index < all.count && all[index].isNamed(name) ? all[index] : nil
    }

    /// Inserts a camera. Precondition: no camera has its name.
    mutating func insert(_ camera: HostedCamera) {
        precondition(self[camera.name] == nil, "there is already a camera \(camera.name)")
        all.insert(camera, at: index(of: camera.name.utf8Span.span))
    }

    mutating func remove(_ camera: HostedCamera) {
        let index = index(of: camera.name.utf8Span.span)
        if index < all.count, all[index] === camera { all.remove(at: index) }
    }

    /// Returns the names as a JSON array; no name contains a character that needs escaping.
    mutating func namesAsJSON() -> [UInt8] {
        if let text { return text }
        let text = Array("[\(all.map { "\"\($0.name)\"" }.joined(separator: ","))]".utf8)
        self.text = text
        return text
    }

    /// Returns the index of the camera with a name, or where it would be inserted.
    private func index(of name: Span<UInt8>) -> Int { all.partitioningIndex { !$0.isNamed(before: name) } }
}
