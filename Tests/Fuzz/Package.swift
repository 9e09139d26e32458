// swift-tools-version: 6.2
// The fuzzers, one program each, in a package of their own: the project's own build stays as quick as it is. `Project`
// is a link to the project's root, so that its targets are compiled here with the fuzzer's instruments.
import PackageDescription

let strict: [SwiftSetting] = [.strictMemorySafety()]

func source(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Project/Sources/\(name)", swiftSettings: strict)
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
        source("JSONLines"),
        source("GimbalProtocol", ["JSONLines", "Gestures", "MapCamera"]),
        source("Hub", ["GimbalProtocol", "Gestures", "MapCamera"]),
        source("Touches", ["Gestures", "MapCamera"]),
        source("TouchTraces", ["Touches", "Gestures", "MapCamera", "GimbalProtocol"]),
        source("UnixSocket"),
        .target(
            name: "GimbalClient", dependencies: ["GimbalProtocol", "Gestures", "MapCamera", "UnixSocket"],
            path: "Project/Sources/GimbalClient", exclude: ["GimbalClient.docc"], swiftSettings: strict),
        .target(
            name: "TestSupport", dependencies: ["Hub"], path: "Project/Tests/TestSupport",
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
