// The results of all expectations, for people and for other programs: a few lines, JUnit's XML, TAP.

/// The results of the expectations for one trace, log or camera.
package struct TestReport: Sendable {
    /// What was tested: the name of a file or of a camera.
    package let subject: String
    package let outcomes: [Outcome]
    /// How long the test took, in seconds.
    package let duration: Double

    package init(subject: String, outcomes: [Outcome], duration: Double) {
        (self.subject, self.outcomes, self.duration) = (subject, outcomes, duration)
    }

    package var failures: [Outcome] { outcomes.filter { $0.failure != nil } }

    /// For people: one line if all is as expected; otherwise each failure in at most ten lines.
    package var lines: [String] {
        guard !failures.isEmpty else { return ["ok \(subject): \(counted("\(outcomes.count)", "expectation"))"] }
        return failures.flatMap { outcome -> [String] in
            guard let failure = outcome.failure else { return [] }
            return ["not ok \(subject): \(outcome.name)", "  \(failure.summary)"] + failure.details.map { "  \($0)" }
        }
    }
}

/// Reports for programs.
extension [TestReport] {
    /// Returns JUnit's XML, which most CI servers read.
    ///
    /// - Parameter page: a file that shows more of what failed; the report names it, as Jenkins and GitLab expect.
    package func junit(page: String? = nil) -> String {
        func xml(_ text: String) -> String { escapedForXML(text, keepsLines: true) }
        let all = flatMap(\.outcomes)
        let failed = all.count { $0.failure != nil }
        let duration = number(reduce(0) { $0 + $1.duration }, 3)
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        text += "<testsuites name=\"gimbal expect\" tests=\"\(all.count)\" failures=\"\(failed)\" "
        text += "time=\"\(duration)\">\n"
        for report in self {
            let name = xml(report.subject)
            text += "  <testsuite name=\"\(name)\" tests=\"\(report.outcomes.count)\" "
            text += "failures=\"\(report.failures.count)\" errors=\"0\" skipped=\"0\" "
            text += "time=\"\(number(report.duration, 3))\">\n"
            for outcome in report.outcomes {
                text += "    <testcase classname=\"\(name)\" name=\"\(xml(outcome.name))\" time=\"0\""
                if let failure = outcome.failure {
                    text += ">\n      <failure type=\"apart\" message=\"\(xml(failure.summary))\">"
                    text += xml(([failure.summary] + failure.details).joined(separator: "\n"))
                    text += "</failure>\n"
                    if let page { text += "      <system-out>[[ATTACHMENT|\(xml(page))]]</system-out>\n" }
                    text += "    </testcase>\n"
                } else {
                    text += "/>\n"
                }
            }
            text += "  </testsuite>\n"
        }
        return text + "</testsuites>\n"
    }

    /// The Test Anything Protocol, version 14.
    package var tap: String {
        var text = "TAP version 14\n1..\(reduce(0) { $0 + $1.outcomes.count })\n"
        var number = 0
        for report in self {
            for outcome in report.outcomes {
                number += 1
                let name = "\(report.subject): \(outcome.name)".replacing("#", with: "\\#").replacing("\n", with: " ")
                text += "\(outcome.failure == nil ? "ok" : "not ok") \(number) - \(name)\n"
                guard let failure = outcome.failure else { continue }
                text += "  ---\n  message: |\n    \(failure.summary)\n"
                for line in failure.details { text += "    \(line)\n" }
                text += "  ...\n"
            }
        }
        return text
    }
}
