// What some tests need and not every machine has. A test that lacks it is disabled, and the last lines of `make test` say so.

// It is there only where tests are built.
#if canImport(Testing)
import Foundation
import Testing

extension Trait where Self == ConditionTrait {
    /// Programs of Debian's.
    public static func needs(_ programs: String...) -> Self {
        let lacking = programs.filter { !FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") }
        return .enabled(if: lacking.isEmpty, "there is no \(lacking.joined(separator: ", "))")
    }

    /// Root, which alone may be somebody else.
    public static var needsRoot: Self { .enabled(if: getuid() == 0, "being somebody else takes root") }

    /// Recordings beside the project.
    public static var needsRecordings: Self {
        .enabled(if: Files.recordings != nil, "there are no recordings in ../shared/traces")
    }
}
#endif
