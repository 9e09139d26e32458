// swift-tools-version: 6.2
// The compiler enforces the layers: a target can import only what it lists.
import PackageDescription

let strict: [SwiftSetting] = [.strictMemorySafety()]
// Without it, libevent's headers and Glibc's module disagree about fd_set.
let gnu: [CSetting] = [.define("_GNU_SOURCE")]
let programs: TargetDependencyCondition? = .when(traits: ["Programs"])

let package = Package(
    name: "gimbal",
    // For the libraries. The programs need Linux, for systemd, and for libevent, which is at its best with epoll.
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .executable(name: "gimbald", targets: ["gimbald"]),
        .executable(name: "gimbal", targets: ["gimbal"]),
        // For other programs: the daemon's client, and the camera alone.
        .library(name: "GimbalClient", targets: ["GimbalClient"]),
        .library(name: "MapCamera", targets: ["MapCamera"]),
        // For tests of other programs: cameras compared with golden files.
        .library(name: "GimbalTesting", targets: ["GimbalTesting"]),
    ],
    traits: [
        // Packages that want only the libraries turn this off, `traits: []`: they then fetch no other package, and need
        // no C library. Everything outside the toolchain is conditional on it.
        .trait(name: "Programs", description: "The daemon and its command line: gimbald and gimbal."),
        .default(enabledTraits: ["Programs"]),
    ],
    dependencies: [
        // The command line of `gimbal`: parsing, help, completions and man pages from one description. The daemon does
        // without it, as it would add Foundation, 4 MB and 2 ms.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0")
        // Two good libraries are not used. swift-system 1.8 has files, but no sockets, no openat or renameat, no locks
        // and no shared memory, which is most of what the daemon asks the kernel for; one use of it makes gimbald 4 %
        // larger and its start 5 % longer (410 KB, 0.2 million instructions). swift-subprocess 1.0 adds 850 KB to
        // gimbal, whose one function that starts a program takes 20 lines; and it requires tasks, while the commands
        // wait for sockets, keys and ^C in one poll(2).
    ],
    targets: [
        // The path of a gesture line, from the inside out. Nothing else links libm where it is a separate library:
        // fmod, remainder, rounding and roots, which are exact.
        .target(
            name: "MapCamera", swiftSettings: strict, linkerSettings: [.linkedLibrary("m", .when(platforms: [.linux]))]),
        .target(name: "Gestures", dependencies: ["MapCamera"], swiftSettings: strict),
        .target(name: "Touches", dependencies: ["Gestures", "MapCamera"], swiftSettings: strict),
        .target(name: "JSONLines", swiftSettings: strict),
        .target(name: "EarthViews", dependencies: ["JSONLines", "MapCamera"], swiftSettings: strict),
        .target(
            name: "GimbalProtocol", dependencies: ["JSONLines", "Touches", "Gestures", "MapCamera"],
            swiftSettings: strict),
        .target(
            name: "Hub", dependencies: ["GimbalProtocol", "Touches", "Gestures", "MapCamera", "CPrefetch"],
            swiftSettings: strict),

        // A trace in memory: its lines with their times, and a run of it without a daemon.
        .target(
            name: "Traces", dependencies: ["Hub", "GimbalProtocol", "Touches", "Gestures", "MapCamera"],
            swiftSettings: strict),

        // What a camera did over time, and what was expected of it: comparisons, expectations, reports.
        .target(
            name: "CameraStreams", dependencies: ["GimbalProtocol", "JSONLines", "MapCamera"], swiftSettings: strict),

        // From a recorded touch to the gestures of a trace.
        .target(
            name: "TouchTraces", dependencies: ["Touches", "Gestures", "MapCamera", "GimbalProtocol", "JSONLines"],
            swiftSettings: strict),

        // Touches to perform: generated, derived from a trace's gestures, and in the formats of other tools.
        .target(
            name: "TouchScripts",
            dependencies: [
                "CameraStreams", "TouchTraces", "Touches", "Traces", "Gestures", "GimbalProtocol", "MapCamera",
            ],
            swiftSettings: strict),

        // A camera's path through keyframes, in files: Gimbal's own, those of Google Earth, and lines to follow.
        // libexpat (Debian: libexpat1-dev) reads the XML: every distribution has it, as Python and D-Bus need it.
        // FoundationXML would bring in all of Foundation and libxml2: a program that reads one tag grows by 44 MB.
        .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
        .target(
            name: "Tours",
            dependencies: [
                "CameraStreams", "EarthViews", "GimbalProtocol", "JSONLines", "MapCamera",
                .target(name: "CExpat", condition: programs),
            ],
            swiftSettings: strict),

        // libevent (Debian: libevent-dev) is the event loop: small, in every distribution, and with the best of epoll.
        // Only its core is linked.
        .systemLibrary(name: "CLibevent", pkgConfig: "libevent_core", providers: [.apt(["libevent-dev"])]),
        .target(
            name: "Libevent", dependencies: [.target(name: "CLibevent", condition: programs)], cSettings: gnu,
            swiftSettings: strict),
        .target(name: "UnixSocket", swiftSettings: strict),

        // What programs that run as services share: a log, a clock, and what the service manager passes.
        .target(
            name: "Service", dependencies: ["GimbalProtocol", "JSONLines", "UnixSocket", "CLinux"],
            swiftSettings: strict),
        .target(
            name: "ProgramOptions",
            dependencies: [
                "GimbalProtocol", "Service",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: programs),
            ],
            swiftSettings: strict),

        .systemLibrary(name: "CPrefetch"),
        .systemLibrary(name: "CLinux"),

        // The client for other programs: it speaks the daemon's own protocol, and needs no Foundation.
        .target(
            name: "GimbalClient", dependencies: ["GimbalProtocol", "Touches", "Gestures", "MapCamera", "UnixSocket"],
            swiftSettings: strict),

        // Cameras beyond this machine: a node at an MQTT broker and mirrors of others, without a socket or a clock.
        .target(
            name: "MQTTBridge",
            dependencies: ["EarthViews", "GimbalProtocol", "Gestures", "JSONLines", "MapCamera", "Service"],
            swiftSettings: strict),

        // A plot of what a trace does to a camera, as a pure function.
        .target(
            name: "Plotting",
            dependencies: ["CameraStreams", "GimbalProtocol", "Touches", "Gestures", "MapCamera", "PictureFiles"],
            swiftSettings: strict),
        .target(name: "PictureFiles", exclude: ["styles"]),

        .target(
            name: "GimbalTesting",
            dependencies: ["CameraStreams", "GimbalProtocol", "MapCamera", "Plotting", "TouchTraces", "Traces"],
            swiftSettings: strict),

        .executableTarget(
            name: "gimbald",
            dependencies: ["Hub", "GimbalProtocol", "Libevent", "Service", "UnixSocket", "CLinux"],
            exclude: ["manual.txt"],
            cSettings: gnu, swiftSettings: strict),
        .executableTarget(
            name: "gimbal",
            dependencies: [
                "CameraStreams", "GimbalClient", "GimbalProtocol", "Plotting", "ProgramOptions", "Service",
                "TouchScripts",
                "Touches", "TouchTraces", "Tours", "Traces", "UnixSocket", "CLinux",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: programs),
            ],
            exclude: ["manual.awk", "manual.txt"], swiftSettings: strict),

        // Tests.
        .target(
            name: "TestSupport", dependencies: ["Hub", "JSONLines", "Service", "UnixSocket"], path: "Tests/TestSupport",
            exclude: ["check-schema.py"]),
        .testTarget(name: "MapCameraTests", dependencies: ["MapCamera", "TestSupport"], exclude: ["Cases"]),
        .testTarget(name: "GesturesTests", dependencies: ["Gestures", "TestSupport"]),
        .testTarget(name: "TouchesTests", dependencies: ["Touches", "Gestures", "MapCamera", "TestSupport"]),
        .testTarget(name: "JSONLinesTests", dependencies: ["JSONLines", "TestSupport"]),
        .testTarget(name: "GimbalProtocolTests", dependencies: ["GimbalProtocol", "TestSupport"]),
        .testTarget(name: "TouchTracesTests", dependencies: ["TouchTraces", "TestSupport"]),
        .testTarget(
            name: "CameraStreamsTests", dependencies: ["CameraStreams", "GimbalProtocol", "MapCamera", "TestSupport"]),
        .testTarget(
            name: "TouchScriptsTests",
            dependencies: ["TouchScripts", "CameraStreams", "TouchTraces", "Touches", "Traces", "TestSupport"]),
        .testTarget(name: "EarthViewsTests", dependencies: ["EarthViews", "TestSupport"]),
        .testTarget(name: "ToursTests", dependencies: ["Tours", "EarthViews", "TestSupport"]),
        .testTarget(name: "GimbalTestingTests", dependencies: ["GimbalTesting"]),
        .testTarget(
            name: "ExampleTests", dependencies: ["GimbalTesting"], path: "Protocols/examples/testing/swift"),
        .testTarget(name: "TracesTests", dependencies: ["Traces", "GimbalProtocol", "TestSupport"]),
        .testTarget(name: "LibeventTests", dependencies: ["Libevent"], cSettings: gnu),
        .testTarget(name: "ServiceTests", dependencies: ["Service", "CLinux", "TestSupport", "UnixSocket"]),
        .testTarget(
            name: "MQTTBridgeTests", dependencies: ["EarthViews", "MQTTBridge", "Hub", "Service", "TestSupport"]),
        .testTarget(name: "HubTests", dependencies: ["Hub", "TestSupport"], exclude: ["Golden"]),
        .testTarget(
            name: "PlottingTests",
            dependencies: ["CameraStreams", "Plotting", "GimbalProtocol", "MapCamera", "gimbal", "TestSupport"]),
        .testTarget(
            name: "GimbalClientTests",
            dependencies: [
                "GimbalClient", "GimbalProtocol", "Service", "UnixSocket", "gimbald", "gimbal", "TestSupport",
            ]),
        .testTarget(
            name: "CommandLineTests", dependencies: ["gimbal", "GimbalClient", "GimbalProtocol", "TestSupport"]),
        .testTarget(name: "DaemonTests", dependencies: ["gimbald", "gimbal", "Libevent", "Service", "TestSupport"]),
    ],
    swiftLanguageModes: [.v6]
)

// Benchmarks of single stages are built only by `make bench`.
if Context.environment["GIMBAL_BENCH"] != nil {
    package.targets.append(
        .executableTarget(
            name: "kernels", dependencies: ["Hub", "GimbalProtocol", "MapCamera"], path: "Tests/Benchmarks/Kernels",
            swiftSettings: strict))
}

// The process between a daemon and a broker is built on request: it needs libmosquitto (Debian: libmosquitto-dev), the
// client of the broker that most machines have: small, in C, maintained by every distribution, for MQTT 5 and 3.1.1.
// Paho C would do as well, with its own threads; libmosquitto reads and writes in the program's loop. Only its connect
// blocks, on a thread: TLS after an asynchronous one in a foreign loop does not always start.
if Context.environment["GIMBAL_MQTT"] != nil {
    package.products.append(.executable(name: "gimbal-mqtt", targets: ["gimbal-mqtt"]))
    package.targets += [
        .systemLibrary(name: "CMosquitto", pkgConfig: "libmosquitto", providers: [.apt(["libmosquitto-dev"])]),
        .executableTarget(
            name: "gimbal-mqtt",
            dependencies: [
                "CameraStreams", "EarthViews", "MQTTBridge", "GimbalClient", "GimbalProtocol", "MapCamera", "Libevent",
                "ProgramOptions", "Service", "UnixSocket", "CMosquitto",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: programs),
            ],
            cSettings: gnu, swiftSettings: strict),
    ]
}

// A page to watch and touch, in its own process. Only `make web` and `make test` build it, so that other builds fetch
// nothing for it. Hummingbird is HTTP/1.1 on SwiftNIO, with limits, backpressure and TLS.
if Context.environment["GIMBAL_WEB"] != nil {
    package.dependencies += [
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.30.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    ]
    package.products.append(.executable(name: "gimbal-web", targets: ["gimbal-web"]))
    package.targets += [
        // QR codes of links come from libqrencode (Debian: libqrencode-dev), in C: the Swift packages that make them
        // are unmaintained, or draw them with an Apple framework.
        .systemLibrary(name: "CQRencode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
        .target(name: "WebFiles", exclude: ["page", "make-world.py"]),
        .target(
            name: "WebServer",
            dependencies: [
                "GimbalClient", "GimbalProtocol", "Gestures", "JSONLines", "Touches", "TouchTraces", "Traces",
                "Service", "UnixSocket", "WebFiles", "CQRencode",
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "gimbal-web",
            dependencies: [
                "WebServer", "GimbalProtocol", "ProgramOptions", "Service", "UnixSocket",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "WebServerTests", dependencies: ["WebServer", "gimbal", "gimbal-web", "gimbald", "TestSupport"]),
    ]
}

// Where each target is. `Sources` has a folder for each part of Gimbal, and `Tests` the same folder for its tests.
let parts = [
    "Core": ["MapCamera", "Gestures", "Touches", "JSONLines", "EarthViews", "GimbalProtocol"],
    "Daemon": ["Hub", "gimbald", "CPrefetch"],
    "Support": ["Libevent", "CLibevent", "UnixSocket", "Service", "ProgramOptions", "CLinux"],
    "Client": ["GimbalClient", "gimbal", "CommandLine"],
    "Laboratory": [
        "Traces", "CameraStreams", "TouchTraces", "TouchScripts", "Tours", "CExpat", "Plotting", "PictureFiles",
        "GimbalTesting",
    ],
    "Page": ["WebFiles", "WebServer", "gimbal-web", "CQRencode"],
    "Broker": ["MQTTBridge", "gimbal-mqtt", "CMosquitto"],
]
for target in package.targets where target.path == nil {
    let subject = target.name == "DaemonTests" ? "gimbald" : target.name.replacing(/Tests$/, with: "")
    guard let part = parts.first(where: { $0.value.contains(subject) })?.key else {
        fatalError("\(target.name) has no part")
    }
    target.path = "\(target.isTest ? "Tests" : "Sources")/\(part)/\(target.name)"
}

// `make test` optimizes the code that tests compute with, and keeps all debug checks: it ends minutes sooner.
if Context.environment["GIMBAL_FAST_TESTS"] != nil {
    let computing = [
        "MapCamera", "Gestures", "Touches", "JSONLines", "GimbalProtocol", "Hub", "Traces", "TouchTraces",
        "CameraStreams", "MQTTBridge", "Tours", "TestSupport",
    ]
    for target in package.targets where computing.contains(target.name) {
        target.swiftSettings =
            (target.swiftSettings ?? []) + [
                .unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))
            ]
    }
}
