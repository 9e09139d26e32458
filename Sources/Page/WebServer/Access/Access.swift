// Decides which requests are allowed, before anything is done for them. Any page in the world can make its visitor's
// browser send requests here, and any local user can connect to a loopback port; neither gets anything.

import HTTPTypes

/// Why a request is refused.
package struct HTTPRefusal: Error, Equatable {
    package let status: HTTPResponse.Status
    /// One line for people.
    package let message: String
    /// Seconds after which to try again.
    package var retryAfter: Int?

    package init(_ status: HTTPResponse.Status, _ message: String, retryAfter: Int? = nil) {
        (self.status, self.message, self.retryAfter) = (status, message, retryAfter)
    }
}

/// The origin of pages, as browsers write it: scheme, host, and the port unless it is the scheme's default.
package struct Origin: Hashable, Sendable {
    package let text: String

    /// Reads an origin; `nil` if it does not identify pages, as `*` and `null`.
    package init?(_ text: String) {
        let lowercased = text.lowercased()
        guard let match = lowercased.wholeMatch(of: Self.form) else { return nil }
        let (_, scheme, host, port) = match.output
        guard let port else {
            self.text = lowercased
            return
        }
        guard let number = Int(port), (1...65535).contains(number) else { return nil }
        let isUsual = scheme == "http" && number == 80 || scheme == "https" && number == 443
        self.text = "\(scheme)://\(host)" + (isUsual ? "" : ":\(number)")
    }

    private static var form: Regex<(Substring, Substring, Substring, Substring?)> {
        /([a-z][a-z0-9+.-]*):\/\/([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?/
    }
}

package struct Access: Sendable {
    /// The server's names in requests, with their port, in lower case.
    package let hosts: Set<String>
    /// The origins of other servers' pages that may send requests, too.
    package let guests: Set<Origin>
    /// `http` or `https`.
    package let scheme: String
    let tokens: Tokens
    /// The token that reads metrics; `nil` if they are not served.
    let metricsToken: String?

    package init(
        hosts: some Sequence<String>, guests: Set<Origin> = [], scheme: String, tokens: Tokens,
        metricsToken: String? = nil
    ) {
        self.hosts = Set(hosts.map { $0.lowercased() })
        self.guests = guests
        self.scheme = scheme
        self.tokens = tokens
        self.metricsToken = metricsToken
    }

    /// Checks that a request means this server. A foreign name that leads here is an attempt to read through a visitor.
    package func checkHost(_ head: HTTPRequest) throws(HTTPRefusal) {
        // The first Host is the authority; a second one is still among the fields.
        guard let host = head.authority, head.headerFields[.host] == nil, hosts.contains(host.lowercased()) else {
            throw HTTPRefusal(.misdirectedRequest, "Host is not a name of this server; see gimbal-web --host")
        }
    }

    /// Checks that a request that changes something comes from a page of this server or a guest, or from a program that
    /// says so.
    package func checkSender(_ head: HTTPRequest) throws(HTTPRefusal) {
        guard !head.headerFields[values: .origin].isEmpty else {
            throw HTTPRefusal(.forbidden, "Origin must be \(scheme):// and the requested host")
        }
        try checkReader(head)
    }

    /// Checks that a request that names an origin comes from one of those.
    package func checkReader(_ head: HTTPRequest) throws(HTTPRefusal) {
        // To a browser, a guest's page is of another site.
        if guest(head) != nil { return }
        let origins = head.headerFields[values: .origin]
        guard origins.isEmpty || origins.count == 1 && isOwn(origin: origins[0]) else {
            throw HTTPRefusal(
                .forbidden, "Origin must be \(scheme):// and the requested host; see gimbal-web --allow-origin")
        }
        let sites = head.headerFields[values: .secFetchSite]
        guard sites.allSatisfy({ $0 == "same-origin" || $0 == "none" }) else {
            throw HTTPRefusal(.forbidden, "pages of other sites are not allowed here")
        }
    }

    /// Returns the guest that a request comes from; `nil` if it is from no guest's page.
    package func guest(_ head: HTTPRequest) -> Origin? {
        let origins = head.headerFields[values: .origin]
        guard origins.count == 1 else { return nil }
        // Browsers write an origin in only one way.
        return guests.first { $0.text == origins[0] }
    }

    private func isOwn(origin: String) -> Bool {
        let prefix = scheme + "://"
        return origin.hasPrefix(prefix) && hosts.contains(origin.dropFirst(prefix.count).lowercased())
    }

    /// Returns what the token of a request allows.
    package func role(of head: HTTPRequest) throws(HTTPRefusal) -> Role {
        guard let role = token(of: head).flatMap(tokens.role) else {
            throw HTTPRefusal(.unauthorized, "a token is needed: open the link that gimbal-web printed")
        }
        return role
    }

    /// Checks that a request may read metrics.
    package func checkMetrics(_ head: HTTPRequest) throws(HTTPRefusal) {
        guard let metricsToken, let token = token(of: head), Tokens.isSame(token, metricsToken) else {
            throw HTTPRefusal(.unauthorized, "a token is needed: the one from gimbal-web --metrics-token")
        }
    }

    private func token(of head: HTTPRequest) -> Substring? {
        let fields = head.headerFields[values: .authorization]
        let prefix = "bearer "
        guard fields.count == 1, fields[0].lowercased().hasPrefix(prefix) else { return nil }
        return fields[0].dropFirst(prefix.count)
    }
}

extension HTTPField.Name {
    /// Makes a name; all texts here are tokens, as the initializer requires.
    private static func named(_ text: String) -> HTTPField.Name { HTTPField.Name(text) ?? .cacheControl }

    static let secFetchSite = named("Sec-Fetch-Site")
    static let page = named("Gimbal-Page")
    static let permissionsPolicy = named("Permissions-Policy")
    static let referrerPolicy = named("Referrer-Policy")
    static let openerPolicy = named("Cross-Origin-Opener-Policy")
    static let resourcePolicy = named("Cross-Origin-Resource-Policy")
    static let host = named("Host")
}
