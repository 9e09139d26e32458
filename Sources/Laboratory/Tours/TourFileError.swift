// Errors in tour files, and notes on what a camera cannot do of what a file says.

/// Why a file is not a tour that can be flown.
package struct TourFileError: Error, Equatable, CustomStringConvertible {
    /// The line, from 1; `nil` if the error concerns the whole file.
    package let line: Int?
    /// What is wrong, and what would be right.
    package let message: String

    package init(line: Int? = nil, _ message: String) {
        (self.line, self.message) = (line, message)
    }

    /// The text to append to a file's name.
    package var description: String { line.map { ":\($0): \(message)" } ?? ": \(message)" }
}

/// Notes on what a file says and a camera does not do.
package struct TourNotes: Sendable {
    /// The first note of each kind, its line (`nil` if it concerns the whole file), and how often it occurred.
    package private(set) var notes: [(line: Int?, text: String, count: Int)] = []

    /// The maximum number of kinds.
    private static let most = 32

    package init() {}

    /// Adds a note. Repeated notes are only counted, as are further kinds once there are many.
    mutating func add(line: Int? = nil, _ text: String) {
        let isOneMore = notes.count < Self.most || notes.contains { $0.text == text }
        let text = isOneMore ? text : "more is left out"
        if let index = notes.firstIndex(where: { $0.text == text }) {
            notes[index].count += 1
        } else {
            notes.append((line, text, 1))
        }
    }

    /// The notes as texts to append to a file's name.
    package var texts: [String] {
        notes.map { note in
            let more = note.count > 1 ? " (\(note.count) times)" : ""
            return (note.line.map { ":\($0): " } ?? ": ") + note.text + more
        }
    }
}
