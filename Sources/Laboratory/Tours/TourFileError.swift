// What is wrong with a file that should be a tour, and what it says that a camera cannot do.

/// Why a file is no tour that can be flown.
package struct TourFileError: Error, Equatable, CustomStringConvertible {
    /// The line, from 1; `nil` if it is about the whole file.
    package let line: Int?
    /// What is wrong, and what would be right.
    package let message: String

    package init(line: Int? = nil, _ message: String) {
        (self.line, self.message) = (line, message)
    }

    /// As it stands behind a file's name.
    package var description: String { line.map { ":\($0): \(message)" } ?? ": \(message)" }
}

/// What a file says and a camera does not do.
package struct TourNotes: Sendable {
    /// The first of each kind with its line; `nil` is about the whole file.
    package private(set) var notes: [(line: Int?, text: String, count: Int)] = []

    /// The most kinds that are told apart.
    private static let most = 32

    package init() {}

    /// Takes note of something. What is told again is only counted; so is what comes when there are many kinds.
    mutating func add(line: Int? = nil, _ text: String) {
        let isOneMore = notes.count < Self.most || notes.contains { $0.text == text }
        let text = isOneMore ? text : "more of that is left out"
        if let index = notes.firstIndex(where: { $0.text == text }) {
            notes[index].count += 1
        } else {
            notes.append((line, text, 1))
        }
    }

    /// The notes as they stand behind a file's name.
    package var texts: [String] {
        notes.map { note in
            let more = note.count > 1 ? " (\(note.count) times)" : ""
            return (note.line.map { ":\($0): " } ?? ": ") + note.text + more
        }
    }
}
