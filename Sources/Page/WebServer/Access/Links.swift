// The server's links for people to open: the token is in the fragment, which no browser ever sends.

import JSONLines
import NIOCore

/// The links of a server.
package struct Links: Sendable {
    /// `http://` or `https://`, host and port, for this machine's own browser.
    package let local: String
    /// The same for others in the network; `nil` if no other machine can connect.
    package let network: String?
    let tokens: Tokens
    /// The links that a page that feeds can share, with their codes. They are made once, as a code takes longer than
    /// everything else at a page's start.
    private let handedOn: JSONValue

    package init(local: String, network: String?, tokens: Tokens) {
        (self.local, self.network, self.tokens) = (local, network, tokens)
        var links = [("watch", Self.link(network ?? local, tokens.watch))]
        if let network { links.insert(("surface", Self.link(network, tokens.feed) + "&surface"), at: 0) }
        handedOn = .array(
            links.map { name, text in
                .object([
                    "name": .string(name), "link": .string(text),
                    "code": .array((QRCode(text)?.rows ?? []).map(JSONValue.string)),
                ])
            })
    }

    private static func link(_ origin: String, _ token: String) -> String { "\(origin)/#token=\(token)" }

    /// The link that moves cameras, for this machine.
    package var feed: String { Self.link(local, tokens.feed) }
    /// The link that only watches.
    package var watch: String { Self.link(local, tokens.watch) }
    /// The link that moves cameras, for a phone; `nil` if none can connect.
    package var phone: String? { network.map { Self.link($0, tokens.feed) } }

    /// Returns the first line of a page's stream. A page that feeds gets the links to share.
    func introduction(of page: Page, _ limits: Limits, _ map: StyledMap?) -> PageLine {
        var object: JSONObject = [
            "type": .string("page"), "page": .string(page.id), "role": .string(page.role.rawValue),
            "limits": .object([
                "lineBytes": .number(Double(limits.lineBytes)),
                "recordingBytes": .number(Double(limits.recordingBytes)),
                "requestsPerSecond": .number(limits.requestsPerSecond),
            ]),
        ]
        if let map {
            object["map"] = .object([
                "style": .string(map.style), "origins": .array(map.origins.map { .string($0.text) }),
            ])
        }
        if page.role == .feed {
            object["network"] = .bool(network != nil)
            object["links"] = handedOn
        }
        return PageLine(object)
    }
}

/// Addresses of this machine.
package enum Addresses {
    /// Returns the machine's addresses in its networks, IPv4 first, without loopback and link-local ones.
    package static func ofNetworks() -> [String] {
        let devices = (try? NIOCore.System.enumerateDevices()) ?? []
        let found = devices.compactMap { $0.address?.ipAddress }.filter(isOfNetwork)
        return found.filter { !$0.contains(":") } + found.filter { $0.contains(":") }
    }

    private static func isOfNetwork(_ text: String) -> Bool {
        !text.hasPrefix("127.") && !text.hasPrefix("169.254.") && text != "::1" && !text.hasPrefix("fe80:")
    }

    /// Returns whether only this machine can reach an address.
    package static func isLoopback(_ address: String) -> Bool {
        address == "localhost" || address == "::1" || address.hasPrefix("127.")
    }

    /// Returns an address as it is written in a link.
    package static func inLink(_ address: String) -> String { address.contains(":") ? "[\(address)]" : address }

    /// Returns whether a text has the form of a host's name or address, without a port.
    package static func isHost(_ text: String) -> Bool { Origin("http://" + inLink(text)) != nil }
}
