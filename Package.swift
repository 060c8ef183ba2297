// swift-tools-version: 6.3
import PackageDescription

/// Every Swift target is checked the same way.
let checked: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// What runs once for each command of a person is not optimised in release builds: that took nine tenths of its compile.
///
/// The daemon's own modules are, for the sake of its memory too.
let plain =
    checked + [
        .unsafeFlags(["-Onone"], .when(configuration: .release))
    ]

/// What each octet of a flow passes is also inlined across modules in release builds; elsewhere that costs build time.
let inlined = checked + [.unsafeFlags(["-cross-module-optimization"], .when(configuration: .release))]

func module(_ name: String, _ uses: [Target.Dependency] = [], settings: [SwiftSetting] = checked) -> Target {
    .target(name: name, dependencies: uses, swiftSettings: settings)
}

func dataPath(_ name: String, _ uses: [Target.Dependency]) -> Target {
    module(name, uses, settings: inlined)
}

func program(
    _ name: String, path: String? = nil, _ uses: [Target.Dependency], settings: [SwiftSetting] = checked
) -> Target {
    .executableTarget(name: name, dependencies: uses, path: path, swiftSettings: settings)
}

func tests(_ name: String, path: String? = nil, data: [String] = [], _ uses: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: uses + ["TestSupport"], path: path, exclude: data, swiftSettings: checked)
}

let package = Package(
    name: "starship-gateway",
    products: [
        .executable(name: "starshipd", targets: ["starshipd"]),
        .executable(name: "starshipctl", targets: ["starshipctl"]),
        .executable(name: "starshipbench", targets: ["starshipbench"]),
    ],
    targets: [
        // Foundations
        dataPath("Bytes", []),
        dataPath("Addresses", ["Bytes"]),
        dataPath("Digest", ["Bytes"]),

        // The data path, in the order a packet meets it
        dataPath("Wire", ["Bytes", "Addresses", "Digest"]),
        module("Names", ["Bytes", "Addresses", "Wire"]),
        dataPath("Flows", ["Bytes", "Addresses", "Wire", "Digest"]),
        dataPath("Streams", ["Bytes", "Addresses", "Wire", "Digest"]),
        module("Routing", ["Addresses"]),
        module("Health", ["Bytes", "Digest"]),
        dataPath("Upstreams", ["Bytes", "Addresses", "Wire", "LinuxIO", "Health"]),
        dataPath("Inbound", ["Bytes", "Addresses", "Wire", "LinuxIO"]),
        dataPath("Relay", ["Bytes", "Addresses", "Wire", "LinuxIO"]),

        // Edges: the configuration, codes to scan, the kernel, the capture file
        module("Devices", ["Bytes", "Addresses"]),
        module("Profiles", ["Bytes", "Addresses", "Digest", "Routing", "Devices", "Health"]),
        module("QRCode", ["Digest"]),
        module("Page", ["Bytes", "Addresses", "Digest", "Profiles", "QRCode", "Health"]),
        .target(name: "CLinux"),
        .systemLibrary(name: "CPcap", pkgConfig: "libpcap", providers: [.apt(["libpcap-dev"])]),
        dataPath("LinuxIO", ["CLinux", "Bytes", "Addresses"]),
        module("Store", ["Bytes", "Digest", "LinuxIO"]),
        module("Capture", ["CPcap", "Bytes", "Addresses", "Wire"]),
        module("Network", ["LinuxIO", "Bytes", "Addresses"]),
        module(
            "Control",
            ["LinuxIO", "Bytes", "Addresses", "Wire", "Flows", "Profiles", "Digest", "Health", "Page"]),
        module("Doctor", ["Network", "Profiles", "LinuxIO", "Bytes", "Addresses"]),
        module("Commands", ["Profiles", "QRCode", "Page", "Bytes", "Addresses", "Routing"], settings: plain),

        // Assembly
        module(
            "Gateway",
            [
                "Bytes", "Addresses", "Digest", "Wire", "Names", "Routing", "Flows", "Streams", "Upstreams", "Inbound",
                "Relay", "Profiles", "LinuxIO", "Store", "Capture", "Network", "Health",
            ]),
        module(
            "Administration",
            [
                "Gateway", "Control", "Page", "Store", "Profiles", "Devices", "QRCode", "LinuxIO", "Addresses", "Bytes",
                "Capture", "Digest", "Health", "Names", "Network", "Relay", "Routing", "Streams", "Upstreams", "Wire",
            ]),
        program("starshipd", ["Administration", "Network", "Profiles", "LinuxIO"]),
        program(
            "starshipctl",
            [
                "Commands", "Control", "Page", "Profiles", "QRCode", "LinuxIO", "Addresses", "Bytes", "Upstreams",
                "Wire", "Doctor", "Network", "Digest",
            ],
            settings: plain),
        program("starshipbench", ["LinuxIO", "Bytes", "Addresses", "Wire", "Routing"]),

        // Tests, and the programs that they need
        .target(
            name: "TestSupport", dependencies: ["Bytes", "Addresses"], path: "Tests/TestSupport",
            swiftSettings: plain),
        program("linkemulator", path: "Tests/LinkEmulator", ["LinuxIO", "Bytes", "Wire"]),
        program("networkdriver", path: "Tests/NetworkDriver", ["Network", "LinuxIO", "Bytes", "Addresses", "Wire"]),
        tests("BytesTests", ["Bytes", "Addresses", "Digest"]),
        tests("WireTests", ["Wire", "Bytes", "Addresses"]),
        tests("NamesTests", ["Names", "Wire", "LinuxIO", "Bytes", "Addresses"]),
        tests("StoreTests", ["Store", "LinuxIO", "Bytes", "Digest"]),
        tests("FlowsTests", ["Flows", "Wire", "Bytes", "Addresses", "Digest"]),
        tests("StreamsTests", ["Streams", "Wire", "Bytes", "Addresses", "Digest"]),
        tests("UpstreamsTests", ["Upstreams", "Health", "Inbound", "Wire", "LinuxIO", "Bytes", "Addresses"]),
        tests("RoutingTests", ["Routing", "Addresses"]),
        tests("DevicesTests", ["Devices", "Bytes", "Addresses"]),
        tests("ProfilesTests", ["Profiles", "Devices", "Health", "Routing", "Bytes", "Addresses", "Digest"]),
        tests("CommandsTests", ["Commands", "Control", "Page", "Profiles", "QRCode", "LinuxIO", "Bytes"]),
        tests("ControlTests", ["Control", "Page", "Profiles", "Health", "Wire", "LinuxIO", "Bytes", "Addresses"]),
        tests(
            "AdministrationTests",
            [
                "Administration", "Control", "Gateway", "Page", "Health", "Profiles", "Devices", "Store", "Upstreams",
                "LinuxIO", "Bytes", "Addresses", "Wire",
            ]),
        tests("QRCodeTests", ["QRCode"]),
        tests("PageTests", ["Page", "Health", "Profiles", "QRCode", "Digest", "Bytes", "Addresses"]),
        tests("HealthTests", ["Health", "Bytes"]),
        tests("LinuxIOTests", ["LinuxIO", "Bytes", "Addresses"]),
        tests("CaptureTests", data: ["Captures"], ["Capture", "Streams", "Wire", "Bytes", "Addresses"]),
        tests(
            "GatewayTests",
            [
                "Gateway", "Relay", "Upstreams", "Inbound", "Streams", "Flows", "Names", "Network", "Routing", "Store",
                "Wire", "LinuxIO", "Bytes", "Addresses",
            ]),
        tests("NetworkTests", ["Network", "LinuxIO", "Bytes", "Addresses"]),
        tests("DoctorTests", ["Doctor", "Network", "Profiles", "LinuxIO", "Addresses", "Bytes"]),
        tests(
            "FuzzTests", path: "Tests/Fuzz", data: ["Seeds", "Corpus"],
            [
                "Bytes", "Addresses", "Digest", "Wire", "Names", "Flows", "Streams", "Routing", "Health", "Upstreams",
                "Inbound", "Devices", "Profiles", "Page", "LinuxIO", "Store", "Capture", "Network", "Control", "Doctor",
                "Commands",
            ]),
        tests("LabTests", []),
    ],
    swiftLanguageModes: [.v6]
)
