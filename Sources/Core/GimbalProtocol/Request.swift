// A request as the hub sees it: one object of a line. `ClientRequest` describes the contents.

/// One object of a line. It borrows nothing: only its id is a range of the line.
package struct Request: Equatable, Sendable {
    /// The id as written in the line.
    package var id: ByteRange?
    /// The camera's name; `nil` if the line names none.
    package var camera: String?
    /// The line's own time in milliseconds.
    package var timeMs: Double?
    /// Whether the request creates its camera if it does not exist.
    package var creates = true
    package var body: ClientRequest

    /// Stands for all cameras in place of a camera's name.
    package static let allCameras = "*"
    @usableFromInline static let longestCameraName = 64

    /// Returns whether a camera can have a name of these bytes.
    @inlinable
    package static func isCameraName(_ name: some Collection<UInt8>) -> Bool {
        1...longestCameraName ~= name.count
            && name.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
