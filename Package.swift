// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
  .treatAllWarnings(as: .error),
]

/// The tests live through hundreds of simulated days, flip every bit of a body and read the whole
/// tree: what they spend their time in is compiled for speed in every build.
let quick = strict + [.unsafeFlags(["-O"], .when(configuration: .debug))]

/// What CandledClient links, too, but not where SwiftPM has checked this package out for another one:
/// none may depend on a target with flags of its own.
let quickUnlessDependency =
  Context.packageDirectory.split(separator: "/").contains("checkouts") ? strict : quick

func module(
  _ name: String, _ dependencies: [Target.Dependency] = [], settings: [SwiftSetting] = strict
) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(
  _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [],
  settings: [SwiftSetting] = strict
) -> Target {
  .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

let log = Target.Dependency.product(name: "Logging", package: "swift-log")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let nio = ["NIOCore", "NIOConcurrencyHelpers", "NIOPosix", "NIOHTTP1"].map {
  Target.Dependency.product(name: $0, package: "swift-nio")
}
/// What the gateway's HTTP and WebSockets are written with.
let web =
  nio + [
    .product(name: "NIOWebSocket", package: "swift-nio"),
    .product(name: "HTTPTypes", package: "swift-http-types"),
  ]
let toml = Target.Dependency.product(name: "TOMLKit", package: "TOMLKit")

let package = Package(
  name: "candled",
  products: [
    .executable(name: "candled", targets: ["candled"]),
    .executable(name: "candled-demo", targets: ["candled-demo"]),
    .executable(name: "candled-gateway", targets: ["candled-gateway"]),
    .library(name: "CandledClient", targets: ["CandledClient"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
  ],
  targets: [
    // Imports point down only; the Tidy tests hold every source file to this table.
    .systemLibrary(
      name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
    .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CLinux"),
    // The schemas, the rules and the page, as bytes that no Swift compiler reads.
    .target(name: "CEmbeddedFiles"),

    module("Market", ["CEmbeddedFiles"], settings: quickUnlessDependency),
    // Charts as SVG pictures; no input or output.
    module("Charts", ["Market"], settings: quick),
    module("Platform", ["CLinux"]),
    module("Candles", ["Market"], settings: quick),
    module("Feeds", ["Market"], settings: quick),
    module("Polling", ["Market"], settings: quick),
    // Orders on paper: what is accepted, what is certainly filled, what it costs.
    module("PaperTrading", ["Market"], settings: quick),
    // What users wait for: whether a row fires an alert, and when that is withdrawn.
    module("Alerts", ["Market"], settings: quick),
    module("Transport", ["Platform", "CCurl", "CLinux"]),
    module("Journal", ["Market", "Platform", "CZstd", "CLinux"]),
    module(
      "Postgres", ["Market", "Platform", "CPostgres", "CLinux"], settings: quickUnlessDependency),
    module("EmbeddedPostgres", ["Market", "Platform", "Postgres", "CPostgres", "CLinux"]),
    module("Reader", ["Market", "Platform", "Postgres"]),
    module("Commits", ["Market"]),
    module(
      "Store",
      [
        "Market", "Candles", "Commits", "Postgres", "Platform", "CPostgres", "CLinux",
        "CEmbeddedFiles",
      ]),
    module("Operations", ["Market", "Platform", "Feeds", log, toml]),
    module("HTTPServing", ["Operations"] + nio),
    .target(
      name: "ExchangeSimulator", dependencies: ["Market", "Platform"],
      swiftSettings: quick),
    module("CandledClient", ["Market", "Postgres", "Reader"]),
    // What apps keep in the database beside the candles: tokens, watchlists, preferences, and the
    // ledger of paper trading.
    .target(
      name: "AppStore",
      dependencies: [
        "Market", "Platform", "Postgres", "PaperTrading", "Alerts", "CCrypto", "CEmbeddedFiles",
        log,
      ],
      exclude: ["schema_app.sql"], swiftSettings: strict),
    // Executes orders on paper: one of the gateways, with the feed and the ledger.
    module(
      "Broker",
      ["Market", "Platform", "Postgres", "Reader", "PaperTrading", "AppStore", log]),
    // What browsers get of the gateway; its files are carried by the program.
    .target(
      name: "Page", dependencies: ["Market", "CEmbeddedFiles"], exclude: ["Files"],
      swiftSettings: strict),
    // Between PostgreSQL and apps: REST, WebSocket, SSE.
    module(
      "Gateway",
      [
        "Market", "Charts", "Platform", "PaperTrading", "Postgres", "Reader", "CandledClient",
        "AppStore", "Page", "Operations", "Alerts", "Transport", "HTTPServing", "CZlib", log,
      ] + web),
    .executableTarget(
      name: "candled-gateway",
      dependencies: [
        "Market", "Platform", "EmbeddedPostgres", "Postgres", "PaperTrading", "AppStore", "Broker",
        "Gateway", "Operations", "TerminalView", "Commands", arguments, log,
      ],
      swiftSettings: strict),
    // What the programs share: options, help, messages, signals, exit statuses.
    module(
      "Commands", ["Market", "Platform", "Operations", "TerminalView", "CLinux", arguments]),
    module("TerminalView", ["Market"]),
    // What a demo shows of itself.
    module("DemoView", ["Market", "TerminalView"]),
    module(
      "Ingest",
      [
        "Market", "Candles", "Feeds", "Polling", "Transport", "Journal", "EmbeddedPostgres",
        "Postgres", "Commits", "Store",
        "Operations",
        "Platform", log,
      ]),
    module(
      "History",
      [
        "Market", "Candles", "Feeds", "Polling", "Journal", "Reader", "Commits",
        "Store", "Operations", "Ingest", log,
      ]),
    module(
      "Admin",
      [
        "Market", "Feeds", "Polling", "Transport", "Journal", "EmbeddedPostgres", "Postgres",
        "Commits", "Store", "Operations",
        "Ingest", "HTTPServing", log,
      ]),
    // What the programs share that run a daemon or its parts: start, errors, backfills.
    module(
      "DaemonCommands",
      [
        "Market", "Candles", "Feeds", "Polling", "Transport", "Journal", "EmbeddedPostgres",
        "Reader", "Commits", "Store", "Operations", "Ingest", "History", "TerminalView",
        "Commands", "Platform", "CLinux", arguments, log,
      ]),
    .executableTarget(
      name: "candled",
      dependencies: [
        "Market", "Candles", "Feeds", "Journal", "Transport", "EmbeddedPostgres", "Postgres",
        "Reader", "Commits", "Store", "Operations", "Ingest", "History", "Admin", "CandledClient",
        "TerminalView", "Commands", "DaemonCommands", "Platform", arguments, log,
      ],
      swiftSettings: strict),
    // A simulated exchange and the daemon's parts in one process.
    .executableTarget(
      name: "candled-demo",
      dependencies: [
        "Market", "Feeds", "Polling", "Transport", "EmbeddedPostgres", "Postgres", "Commits",
        "Store", "Operations", "Ingest", "History", "ExchangeSimulator", "TerminalView", "DemoView",
        "Commands", "DaemonCommands", "Platform", arguments, log,
      ],
      swiftSettings: strict),
    // `swift build --target Programs` links all of them in one call.
    module("Programs", ["candled", "candled-demo", "candled-gateway"]),

    // Shared by the tests: seeded randomness and, for those that need one, a private cluster.
    .target(
      name: "TestSupport",
      dependencies: [
        "Market", "Feeds", "Transport", "Journal", "EmbeddedPostgres", "Postgres", "Commits",
        "Store", "AppStore", "Operations", "Ingest", "Platform", "CPostgres", "CLinux", log,
      ],
      path: "Tests/TestSupport",
      swiftSettings: strict),
    // Where a test runs.
    .target(name: "TestTraits", path: "Tests/TestTraits", swiftSettings: strict),
    // The simulated exchange as tests need it: all upstreams, keys and quotas, faults on order.
    .target(
      name: "TestExchange", dependencies: ["Market", "ExchangeSimulator", "Platform", "CLinux"],
      path: "Tests/TestExchange", swiftSettings: quick),
    // What a simulated day must have become: the judges of whoever watched it.
    .target(
      name: "Ledgers", dependencies: ["Market", "ExchangeSimulator", "TestExchange"],
      path: "Tests/Ledgers", swiftSettings: quick),
    // `script/bench` runs it; a section is one file.
    .executableTarget(
      name: "candled-bench",
      dependencies: [
        "Market", "Candles", "Feeds", "Journal", "EmbeddedPostgres", "Postgres", "Reader",
        "Commits", "Store",
        "Ingest",
        "Operations",
        "ExchangeSimulator", "TestExchange", "Ledgers", "CandledClient", "AppStore",
        "PaperTrading", "Broker",
        "Charts", "Alerts",
        "Gateway",
        "Platform", "CPostgres", "CLinux", "TestSupport", log,
      ] + web,
      path: "Tests/Bench", swiftSettings: strict),
    // Bodies to damage, and what must hold of all that is decoded from them.
    .target(
      name: "Hostile", dependencies: ["Market", "Feeds"], path: "Tests/Hostile",
      swiftSettings: strict),
    // Days run in memory and judged by the simulator's ledgers: a short one in the tests, whole
    // markets by `script/trials`.
    .target(
      name: "Trials",
      dependencies: [
        "Market", "Candles", "Feeds", "Polling", "Transport", "Journal", "EmbeddedPostgres",
        "Postgres", "Reader", "Commits", "Store", "Operations",
        "Ingest",
        "ExchangeSimulator", "TestExchange", "Ledgers", "CandledClient", "PaperTrading", "Alerts",
        "AppStore", "Broker",
        "Platform", "CPostgres", "CLinux",
        "TestSupport", log,
      ],
      path: "Tests/Trials", swiftSettings: strict),
    // The gateway without sockets, and what hostile clients send to it.
    .target(
      name: "HostileGateway",
      dependencies: [
        "Market", "Platform", "Reader", "AppStore", "Gateway", "HTTPServing", "Operations", log,
        .product(name: "NIOEmbedded", package: "swift-nio"),
      ] + web, path: "Tests/HostileGateway", swiftSettings: strict),
    .executableTarget(
      name: "candled-trials", dependencies: ["Trials", "Hostile", "HostileGateway"],
      path: "Tests/TrialRunner",
      swiftSettings: strict),
    // `script/tidy-report` runs it; the Tidy tests assert what it measures.
    .executableTarget(name: "candled-tidy", path: "Tests/Tidy", swiftSettings: quick),
    tests("MarketTests", ["Market", "TestSupport"]),
    tests("ChartsTests", ["Market", "Charts", "TestSupport"], exclude: ["Golden"]),
    tests(
      "PaperTradingTests", ["Market", "PaperTrading", "TestSupport"]),
    tests("AlertsTests", ["Market", "Alerts", "TestSupport"]),
    tests("PlatformTests", ["Platform"]),
    tests(
      "CandlesTests", ["Market", "Candles", "TestSupport", "TestTraits"]),
    tests(
      "FeedsTests", ["Market", "Feeds", "Hostile", "TestSupport"], exclude: ["Fixtures", "Golden"]),
    tests("PollingTests", ["Market", "Feeds", "Polling", "TestSupport", "TestTraits"]),
    tests(
      "TransportTests",
      [
        "Market", "Polling", "Transport", "ExchangeSimulator", "Ledgers", "Platform", "Hostile",
        "TestSupport", "TestTraits",
      ]),
    tests("JournalTests", ["Market", "Journal", "TestSupport"]),
    tests(
      "StoreTests",
      [
        "Market", "Feeds", "EmbeddedPostgres", "Postgres", "Reader", "Commits", "Store",
        "CandledClient",
        "Platform", "CPostgres",
        "TestSupport", "TestTraits",
      ],
      exclude: ["Fixtures"]),
    tests("OperationsTests", ["Market", "Feeds", "Operations", "Platform", "TestSupport"]),
    tests(
      "ExchangeSimulatorTests",
      ["Market", "ExchangeSimulator", "TestExchange", "Ledgers", "TestSupport"]),
    tests(
      "IngestTests",
      [
        "Market", "Candles", "Feeds", "Polling", "Transport", "Journal", "EmbeddedPostgres",
        "Postgres", "Reader", "Commits", "Store",
        "Operations",
        "Ingest", "History", "HTTPServing", "Admin", "ExchangeSimulator", "TestExchange", "Ledgers",
        "Platform",
        "Trials", "Hostile", "TestSupport", "TestTraits", log,
      ]),
    tests(
      "HistoryTests",
      [
        "Market", "Candles", "Feeds", "Polling", "Journal", "Postgres", "Reader", "Commits",
        "Store", "Operations", "Ingest", "History", "TestSupport",
      ]),
    .testTarget(
      name: "CandledTests",
      dependencies: [
        "Market", "Journal", "Store", "TerminalView", "DemoView", "ExchangeSimulator",
        "TestExchange", "Ledgers",
        "Platform", "TestSupport", "TestTraits",
      ],
      exclude: ["Golden"], swiftSettings: strict),
    tests("PackageTests", [], exclude: ["Golden", "Scenarios"]),
    tests(
      "AppStoreTests",
      [
        "Market", "Platform", "EmbeddedPostgres", "Postgres", "Commits", "Store", "PaperTrading",
        "Alerts", "AppStore", "TestSupport", "TestTraits",
      ]),
    tests(
      "BrokerTests",
      [
        "Market", "EmbeddedPostgres", "Postgres", "Reader", "Commits", "Store", "PaperTrading",
        "AppStore", "Broker", "TestSupport", "TestTraits", log,
      ]),
    tests(
      "GatewayTests",
      [
        "Market", "EmbeddedPostgres", "Postgres", "Reader", "Commits", "Store", "CandledClient",
        "PaperTrading", "AppStore", "Alerts", "Page", "Gateway", "HTTPServing", "HostileGateway",
        "Operations", "TestSupport", "TestTraits", log,
        .product(name: "NIOEmbedded", package: "swift-nio"),
      ] + web, exclude: ["Golden", "Scripts"]),
    tests("PageTests", ["TestSupport", "TestTraits"]),
    tests("TrialTests", ["Trials", "TestTraits"]),
    tests(
      "AdminTests",
      [
        "Market", "Feeds", "Polling", "Transport", "Journal", "EmbeddedPostgres", "Postgres",
        "Commits", "Store", "Operations",
        "Ingest", "HTTPServing", "Admin", "Platform", "TestSupport", log,
        .product(name: "NIOCore", package: "swift-nio"),
      ]),
    tests(
      "TidyTests", ["Operations", "Ingest", "Admin", "candled-tidy", "TestTraits"]),
  ],
  swiftLanguageModes: [.v6]
)

// `script/fuzz` alone sets this: libFuzzer drives the program and everything under it is
// instrumented, so it has a build folder of its own and no other build sees it.
if Context.environment["CANDLED_FUZZ"] != nil {
  package.targets += [
    .systemLibrary(name: "CFuzzer", path: "Tests/Fuzz/CFuzzer"),
    .executableTarget(
      name: "candled-fuzz",
      dependencies: [
        "Market", "Feeds", "Journal", "Operations", "Gateway", "Hostile", "HostileGateway",
        "CFuzzer",
      ],
      path: "Tests/Fuzz/Targets", swiftSettings: strict),
  ]
}
