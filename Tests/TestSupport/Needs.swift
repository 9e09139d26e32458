// Requirements that not every machine meets. Elsewhere the test is disabled, and the last lines of `make test` say so.

// Testing is available only where tests are built.
#if canImport(Testing)
import Foundation
import Testing

extension Trait where Self == ConditionTrait {
    /// Requires programs of Debian.
    public static func needs(_ programs: String...) -> Self {
        let lacking = programs.filter { !FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") }
        return .enabled(if: lacking.isEmpty, "there is no \(lacking.joined(separator: ", "))")
    }

    /// Requires root, the only user that may become another.
    public static var needsRoot: Self { .enabled(if: getuid() == 0, "being somebody else takes root") }

    /// Requires the recordings beside the project.
    public static var needsRecordings: Self {
        .enabled(if: Files.recordings != nil, "there are no recordings in ../shared/traces")
    }
}
#endif
