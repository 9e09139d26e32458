// `gimbal clients`: shows the clients that are connected to the daemon.

import ArgumentParser
import GimbalProtocol
import Glibc
import Service

struct Clients: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Show the connected clients, and what they follow.",
        """
        Prints a row for each connection: its number, its user, the process that connected, and what it does: which \
        cameras it follows and how many events it is behind, which camera it plays a trace into, how many bytes of \
        answers it has not read, and whether it may only watch. In a pipe or with --json, prints the daemon's lines: \
        one for every 64 clients.

        Examples:
          gimbal clients
          gimbal clients --json | jq '.clients[] | select(.waits > 0).process'
        """)

    @OptionGroup var options: AnswerOptions

    func run() throws {
        let daemon = try Conversation(options)
        var (last, hasMore) = (0, true)
        while hasMore {
            try daemon.show(.clients(after: last)) { (page: ClientPage) in
                let isFirst = last == 0
                hasMore = page.hasMore && !page.clients.isEmpty
                last = page.clients.last?.number ?? last
                return table(page.clients, hasHeading: isFirst)
            }
        }
    }

    private func table(_ clients: [Client], hasHeading: Bool) -> [PrintableText] {
        var rows = clients.map { [PrintableText("\($0.number)"), $0.userText, $0.processText, $0.activity] }
        let heading: [PrintableText] = ["number", "user", "process", "what it does"]
        let widths = heading.indices.map { column in (rows + [heading]).map { width($0[column]) }.max() ?? 0 }
        if hasHeading { rows.insert(heading, at: 0) }
        let style = Style(STDOUT_FILENO)
        return rows.enumerated().map { index, cells in
            let row: PrintableText =
                "\(padded(cells[0], widths[0]))  \(filled(cells[1], widths[1]))  \(filled(cells[2], widths[2]))  \(cells[3])"
            return hasHeading && index == 0 ? style.dim(row) : row
        }
    }
}

extension Client {
    fileprivate var userText: PrintableText {
        guard let user else { return "" }
        return PrintableText(UInt32(exactly: user).flatMap { Account.name(ofUser: $0) } ?? String(user))
    }

    /// The process ID, and the name of the process if it can still be read.
    fileprivate var processText: PrintableText {
        guard let process else { return "" }
        guard let bytes = try? InputFile("/proc/\(process)/comm").read() else { return "\(process)" }
        return "\(process) \(PrintableText(bytes: bytes.prefix { $0 != 0x0a }))"
    }

    /// What the client does, in words.
    fileprivate var activity: PrintableText {
        var facts = subscriptions.map { following -> PrintableText in
            let kind: PrintableText = following.delivery == .latest ? ", the latest only" : ""
            let behind: PrintableText = following.behind > 0 ? ", \(counted(following.behind, "event")) behind" : ""
            return "follows \(following.camera)\(kind)\(behind)"
        }
        let more = subscriptionCount - subscriptions.count
        if more > 0 { facts.append("follows \(counted(more, "camera")) more") }
        if followsAll { facts.append("follows all cameras, including new ones") }
        if let replay { facts.append("plays a trace into \(replay)") }
        if waits > 0 {
            facts.append("waits \(waits == 1 ? "" : "\(waits) times " as PrintableText)for a camera to rest")
        }
        if unreadBytes > 0 { facts.append("has not read \(counted(unreadBytes, "byte"))") }
        if role == .watchOnly { facts.append("may only watch") }
        if let about { facts.append("says \(String(about.prefix(80)))") }
        if isSelf { facts.append("is this command") }
        return facts.joined(separator: "; ")
    }
}
