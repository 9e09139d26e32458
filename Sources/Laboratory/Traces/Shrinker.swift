// Shrinks a trace that something fails with: removes parts for as long as it still fails. Larger parts go first: whole
// gestures, then lines, then the members of batches and of the header. A pure function of the answers that it gets.

import GimbalProtocol

/// Shrinks a trace.
package struct Shrinker {
    /// The number of trials left.
    private var left: Int
    /// The number of trials so far.
    package private(set) var asked = 0

    /// - Parameter most: the maximum number of trials.
    package init(most: Int) { left = most }

    /// Returns the smallest trace found that still fails.
    ///
    /// - Parameter fails: whether a trace fails as the whole one does.
    package mutating func shrink(_ trace: Trace, _ fails: (Trace) throws -> Bool) rethrows -> Trace {
        var smallest = trace
        var size = Int.max
        // A part that had to stay before may be removable once something else is gone.
        while smallest.bytes.count < size, left > 0 {
            size = smallest.bytes.count
            let header = smallest.header
            try Self.drop(Self.groups(of: smallest.lines), { $0.flatMap { $0 } }) { lines in
                try ask(Trace(header: header, lines: lines), &smallest, fails)
            }
            try Self.drop(smallest.lines, { $0 }) { try ask(Trace(header: header, lines: $0), &smallest, fails) }
            try dropMembers(&smallest, fails)
            try dropHeaderMembers(&smallest, fails)
        }
        return smallest
    }

    /// - Returns: whether the trace still fails; `nil` if no trials are left.
    private mutating func ask(
        _ trace: Trace, _ smallest: inout Trace, _ fails: (Trace) throws -> Bool
    ) rethrows -> Bool? {
        guard left > 0 else { return nil }
        left -= 1
        asked += 1
        guard try fails(trace) else { return false }
        smallest = trace
        return true
    }

    /// Removes runs of parts, long ones first.
    private static func drop<Part>(
        _ parts: [Part], _ lines: ([Part]) -> [Trace.Line], _ ask: ([Trace.Line]) throws -> Bool?
    ) rethrows {
        var parts = parts
        var length = parts.count
        while length > 0 {
            var start = 0
            while start < parts.count {
                var fewer = parts
                fewer.removeSubrange(start..<min(start + length, parts.count))
                guard let stillFails = try ask(lines(fewer)) else { return }
                if stillFails { parts = fewer } else { start += length }
            }
            length = min(length / 2, parts.count)
        }
    }

    /// Groups lines that belong together: each group ends where no gesture is active and no finger is down.
    private static func groups(of lines: [Trace.Line]) -> [[Trace.Line]] {
        var groups: [[Trace.Line]] = []
        var reporter = GestureReporter()
        var active = ActiveGestures<Void>()
        for line in lines {
            if active.isEmpty && reporter.fingersDown == 0 { groups.append([]) }
            groups[groups.count - 1].append(line)
            for request in line.requests {
                for report in reporter.reports(of: request, at: line.timeMs ?? 0) { active.handle(report, ()) }
            }
        }
        return groups
    }

    private mutating func dropMembers(_ smallest: inout Trace, _ fails: (Trace) throws -> Bool) rethrows {
        for index in smallest.lines.indices {
            guard case .array(var members)? = try? JSONValue(smallest.lines[index].bytes) else { continue }
            var position = 0
            while position < members.count, members.count > 1 {
                var fewer = members
                let removed = fewer.remove(at: position)
                // The batch's time may be in its first member only.
                if let time = removed["timeMs"], case .object(var first) = fewer[0], first["timeMs"] == nil {
                    first["timeMs"] = time
                    fewer[0] = .object(first)
                }
                var trace = smallest
                trace.lines[index] = Trace.Line((fewer.count == 1 ? fewer[0] : .array(fewer)).bytes)
                guard let stillFails = try ask(trace, &smallest, fails) else { return }
                if stillFails { members = fewer } else { position += 1 }
            }
        }
    }

    /// The position stays: elsewhere, something else may fail.
    private mutating func dropHeaderMembers(_ smallest: inout Trace, _ fails: (Trace) throws -> Bool) rethrows {
        let members = (try? JSONValue(smallest.header.bytes))?.object?.members ?? []
        for name in members.map(\.name) where !["type", "version", "position"].contains(name) {
            var trace = smallest
            guard (try? trace.header.set([(name, nil)])) != nil else { continue }
            guard try ask(trace, &smallest, fails) != nil else { return }
        }
    }
}
