// Reads the lines of a page, one at a time, for the server to check what they ask for. Invariant: a line is decoded at
// most once, and too many bad ones end the reading, since an error costs many times what a good line does.

import GimbalProtocol
import HTTPTypes

struct LineReader: ~Copyable {
    /// The requests of the line that was decoded last; none if it was bad.
    private(set) var requests: [Request] = []
    /// How many lines have been decoded.
    private(set) var decoded = 0
    /// How many of them were bad.
    private(set) var bad = 0

    private let status: HTTPResponse.Status
    private let longest: Int
    private let mostBad: Int
    private var framer: LineFramer
    // The daemon may be set to take longer lines and batches than by default.
    private var decoder = RequestDecoder(longestLine: .max, largestBatch: .max)

    /// - Parameters:
    ///   - status: the status of refusals.
    ///   - longest: the most bytes of a line.
    ///   - mostBad: the most bad lines that are skipped.
    init(status: HTTPResponse.Status, longest: Int, mostBad: Int) {
        (self.status, self.longest, self.mostBad) = (status, longest, mostBad)
        framer = LineFramer(longest: longest)
    }

    /// The number of the line, counted from 1, including blank ones.
    var number: UInt64 { framer.lineNumber }

    func refusal(_ message: String) -> HTTPRefusal { HTTPRefusal(status, message) }

    /// Finds the next line that is not blank, and moves the position past it.
    ///
    /// - Parameter isLast: whether the end of the bytes ends a line.
    /// - Returns: `nil` if there is no complete line.
    /// - Throws: if a line is too long.
    mutating func next(
        in bytes: Span<UInt8>, at position: inout Int, isLast: Bool
    ) throws(HTTPRefusal) -> Range<Int>? {
        while true {
            switch framer.next(in: bytes, at: &position, isLast: isLast) {
            case .tooLong: throw refusal("line \(number) has more than \(longest) bytes")
            case .line(let range): if !Self.isBlank(bytes.extracting(range)) { return range }
            case nil: return nil
            }
        }
    }

    private static func isBlank(_ line: Span<UInt8>) -> Bool {
        for index in 0..<line.count where ![0x20, 0x09, 0x0d].contains(line[index]) { return false }
        return true
    }

    /// Decodes a line.
    ///
    /// - Returns: whether it begins a trace, even with a wrong header.
    /// - Throws: if it is one bad line too many.
    mutating func decode(_ line: Span<UInt8>) throws(HTTPRefusal) -> Bool {
        decoded += 1
        do throws(Rejection) {
            try decoder.decode(line, into: &requests)
            if case .trace? = requests.first?.body { return true }
            return false
        } catch {
            requests = []
            bad += 1
            guard bad <= mostBad else {
                let reason = error.error.message
                throw refusal("more than \(mostBad) lines cannot be read, such as line \(number): \(reason)")
            }
            return error.isHeader
        }
    }
}
