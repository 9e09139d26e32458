// swift-tools-version: 6.2
// The fuzzers, one program each, in a separate package, so that the project's own build stays as fast as it is. The
// project's targets are compiled here with the fuzzer's instrumentation. `Sources` and `TestSupport` are links to
// them: a target must be below its package, and only products of other packages can be used, which most are not.
import PackageDescription

let strict: [SwiftSetting] = [.strictMemorySafety()]

func source(_ part: String, _ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Sources/\(part)/\(name)", swiftSettings: strict)
}

func fuzzer(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    // libFuzzer provides `main`.
    .executableTarget(
        name: name, dependencies: dependencies + ["FuzzSupport"], path: "Targets/\(name)",
        swiftSettings: [.unsafeFlags(["-parse-as-library"])])
}

let package = Package(
    name: "fuzz",
    targets: [
        source("Core", "MapCamera"),
        source("Core", "Gestures", ["MapCamera"]),
        source("Core", "Touches", ["Gestures", "MapCamera"]),
        source("Core", "JSONLines"),
        source("Core", "GimbalProtocol", ["JSONLines", "Touches", "Gestures", "MapCamera"]),
        .systemLibrary(name: "CPrefetch", path: "Sources/Daemon/CPrefetch"),
        source("Daemon", "Hub", ["GimbalProtocol", "Touches", "Gestures", "MapCamera", "CPrefetch"]),
        source("Laboratory", "TouchTraces", ["Touches", "Gestures", "MapCamera", "GimbalProtocol", "JSONLines"]),
        source("Core", "EarthViews", ["JSONLines", "MapCamera"]),
        source("Laboratory", "CameraStreams", ["GimbalProtocol", "JSONLines", "MapCamera"]),
        .systemLibrary(name: "CExpat", path: "Sources/Laboratory/CExpat"),
        source(
            "Laboratory", "Tours",
            ["CameraStreams", "EarthViews", "GimbalProtocol", "JSONLines", "MapCamera", "CExpat"]),
        source("Support", "UnixSocket"),
        .systemLibrary(name: "CLinux", path: "Sources/Support/CLinux"),
        source("Support", "Service", ["GimbalProtocol", "UnixSocket", "CLinux"]),
        source("Client", "GimbalClient", ["GimbalProtocol", "Touches", "Gestures", "MapCamera", "UnixSocket"]),
        .target(
            name: "TestSupport", dependencies: ["Hub", "JSONLines", "Service", "UnixSocket"], path: "TestSupport",
            exclude: ["check-schema.py"]),

        .target(name: "FuzzSupport", dependencies: ["TestSupport"], path: "Support"),
        fuzzer("FuzzDecoder", ["GimbalProtocol", "TestSupport"]),
        fuzzer("FuzzHub", ["Hub", "TestSupport"]),
        fuzzer("FuzzTraces", ["TouchTraces", "GimbalProtocol"]),
        fuzzer("FuzzDevice", ["TouchTraces"]),
        fuzzer("FuzzTours", ["Tours", "GimbalProtocol"]),
        fuzzer("FuzzClient", ["GimbalClient"]),
        fuzzer("FuzzTUIO", ["TouchTraces"]),
    ],
    swiftLanguageModes: [.v6]
)
