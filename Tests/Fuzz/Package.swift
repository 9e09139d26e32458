// swift-tools-version: 6.2
// The fuzzers, one program each, in a package of their own: the project's own build stays as quick as it is. The project's
// targets are compiled here with the fuzzer's instruments. `Sources` and `TestSupport` are links to them, for a target must
// be below its package, and of another package only products can be used, which most of them are not.
import PackageDescription

let strict: [SwiftSetting] = [.strictMemorySafety()]

func source(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func fuzzer(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    // libFuzzer brings the `main`.
    .executableTarget(
        name: name, dependencies: dependencies + ["FuzzSupport"], path: "Targets/\(name)",
        swiftSettings: [.unsafeFlags(["-parse-as-library"])])
}

let package = Package(
    name: "fuzz",
    targets: [
        source("MapCamera"),
        source("Gestures", ["MapCamera"]),
        source("Touches", ["Gestures", "MapCamera"]),
        source("JSONLines"),
        source("GimbalProtocol", ["JSONLines", "Touches", "Gestures", "MapCamera"]),
        .systemLibrary(name: "CPrefetch", path: "Sources/CPrefetch"),
        source("Hub", ["GimbalProtocol", "Touches", "Gestures", "MapCamera", "CPrefetch"]),
        source("TouchTraces", ["Touches", "Gestures", "MapCamera", "GimbalProtocol", "JSONLines"]),
        source("UnixSocket"),
        source("GimbalClient", ["GimbalProtocol", "Touches", "Gestures", "MapCamera", "UnixSocket"]),
        .target(
            name: "TestSupport", dependencies: ["Hub", "UnixSocket"], path: "TestSupport",
            exclude: ["check-schema.py"]),

        .target(name: "FuzzSupport", dependencies: ["TestSupport"], path: "Support"),
        fuzzer("FuzzDecoder", ["GimbalProtocol"]),
        fuzzer("FuzzHub", ["Hub", "TestSupport"]),
        fuzzer("FuzzTraces", ["TouchTraces", "GimbalProtocol"]),
        fuzzer("FuzzDevice", ["TouchTraces"]),
        fuzzer("FuzzClient", ["GimbalClient"]),
    ],
    swiftLanguageModes: [.v6]
)
