// Who may ask what: the one place that judges a request before anything is done for it. Any page of the world can have its
// visitor's browser send requests here, and any local user can connect to a loopback port; neither gets anything.

import HTTPTypes

/// Why a request is refused.
package struct Refusal: Error, Equatable {
    package let status: HTTPResponse.Status
    /// One line for people.
    package let message: String
    /// Seconds after which another attempt may go better.
    package var retryAfter: Int?

    package init(_ status: HTTPResponse.Status, _ message: String, retryAfter: Int? = nil) {
        (self.status, self.message, self.retryAfter) = (status, message, retryAfter)
    }
}

package struct Access: Sendable {
    /// What the server is called in requests: names with their port, in lower case.
    package let hosts: Set<String>
    /// `http` or `https`.
    package let scheme: String
    let tokens: Tokens

    package init(hosts: some Sequence<String>, scheme: String, tokens: Tokens) {
        self.hosts = Set(hosts.map { $0.lowercased() })
        self.scheme = scheme
        self.tokens = tokens
    }

    /// Checks that a request means this server. A foreign name that leads here is an attempt to read with a visitor's eyes.
    package func checkHost(_ head: HTTPRequest) throws(Refusal) {
        // The first Host is the authority; a second one is still among the fields.
        guard let host = head.authority, head.headerFields[.host] == nil, hosts.contains(host.lowercased()) else {
            throw Refusal(.misdirectedRequest, "this server goes by other names; see gimbal-web --host")
        }
    }

    /// Checks that nothing but a page of this server's had the request sent, or a program that says the same.
    package func checkOrigin(_ head: HTTPRequest) throws(Refusal) {
        let origins = head.headerFields[values: .origin]
        let isOwn = origins.count == 1 && isOwn(origin: origins[0])
        guard isOwn else { throw Refusal(.forbidden, "Origin must be \(scheme):// and the host that is asked") }
        try checkSite(head)
    }

    private func isOwn(origin: String) -> Bool {
        let prefix = scheme + "://"
        return origin.hasPrefix(prefix) && hosts.contains(origin.dropFirst(prefix.count).lowercased())
    }

    /// Checks what a browser says of the page that asks, where it says something.
    package func checkSite(_ head: HTTPRequest) throws(Refusal) {
        let sites = head.headerFields[values: .secFetchSite]
        guard sites.allSatisfy({ $0 == "same-origin" || $0 == "none" }) else {
            throw Refusal(.forbidden, "this is not for pages of other sites")
        }
    }

    /// What the token of a request allows.
    package func role(of head: HTTPRequest) throws(Refusal) -> Role {
        let fields = head.headerFields[values: .authorization]
        let prefix = "bearer "
        guard fields.count == 1, fields[0].lowercased().hasPrefix(prefix),
            let role = tokens.role(of: fields[0].dropFirst(prefix.count))
        else { throw Refusal(.unauthorized, "a token is needed: open the link that gimbal-web has printed") }
        return role
    }
}

extension HTTPField.Name {
    /// The name is a token, as the initializer asks for.
    private static func named(_ text: String) -> HTTPField.Name { HTTPField.Name(text) ?? .cacheControl }

    static let secFetchSite = named("Sec-Fetch-Site")
    static let page = named("Gimbal-Page")
    static let permissionsPolicy = named("Permissions-Policy")
    static let referrerPolicy = named("Referrer-Policy")
    static let openerPolicy = named("Cross-Origin-Opener-Policy")
    static let resourcePolicy = named("Cross-Origin-Resource-Policy")
    static let host = named("Host")
}
