import Feeds
import Glibc
import Hostile
import HostileGateway
import Market
import Operations

/// What is fuzzed. A target ends the process where an invariant is broken, so that libFuzzer keeps
/// the input.
enum FuzzTarget: String, CaseIterable {
  case quotes, tencent, kline, factors, nodes, calendar, mairui, bars, sessions, assets
  case json, names, configuration, journal, http, frames, messagepack

  /// `nonisolated(unsafe)`: written once, before libFuzzer's only thread starts calling.
  nonisolated(unsafe) static var current = FuzzTarget.quotes

  /// The questions whose answers it decodes, as the journal keeps them.
  private var requestTexts: [String] {
    switch self {
    case .quotes: ["quotes"]
    case .tencent: ["tencent-quotes"]
    case .kline:
      ["1", "60", "240", "1200", "5", "7200"].map { "kline \($0) sz000002 1970" }
    case .factors: ["factors qfq sh600000", "factors hfq sz300592"]
    case .nodes: ["node hs_a 1", "node-count hs_a"]
    case .calendar: ["calendar sh"]
    case .mairui: ["list hslt"]
    case .bars:
      ["1m", "1d", "1w", "1mo", "60m"].map {
        "bars iex \($0) 2026-09-01T04:00:00Z 2026-09-30T04:00:00Z OAKX,PINE.B"
      }
    case .sessions: ["calendar us 2026-09-01 2026-12-31"]
    case .assets: ["assets us"]
    case .json, .names, .configuration, .journal, .http, .frames, .messagepack: []
    }
  }

  private static let probes: [FuzzTarget: [Probe]] = Dictionary(
    uniqueKeysWithValues: allCases.map { ($0, $0.requestTexts.compactMap { Probe($0) }) })

  /// Statuses beside 200, under which the same body is a refusal or none.
  private static let statuses = [403, 404, 429, 456, 500, 503, 301, 400]

  func take(_ bytes: UnsafeRawBufferPointer) {
    switch self {
    case .json: JSONTarget.take(bytes)
    case .names: NameTarget.take(bytes)
    case .configuration: ConfigurationTarget.take(bytes)
    case .journal: JournalTarget.take(bytes)
    case .http: GatewayTarget.takeRequest(bytes)
    case .frames: GatewayTarget.takeFrames(bytes)
    case .messagepack: MessagePackTarget.take(bytes)
    default: decode(bytes)
    }
  }

  /// The status beside 200 is a function of the input, so that a kept input reproduces.
  private func decode(_ bytes: UnsafeRawBufferPointer) {
    let status = FuzzTarget.statuses[bytes.count % FuzzTarget.statuses.count]
    for probe in FuzzTarget.probes[self] ?? [] {
      for status in [200, status] {
        let verdict = probe.classify(bytes, status: status)
        guard verdict.complaints.isEmpty else {
          fatalError("\(probe.name), status \(status): \(verdict.complaints)")
        }
      }
    }
  }

  /// The corpus to start from.
  func writeSeeds(to folder: String) {
    let seeds: [[UInt8]]
    switch self {
    case .json:
      seeds = FuzzTarget.bodies(
        of: FuzzTarget.allCases.filter { ![.quotes, .tencent].contains($0) })
    case .names: seeds = NameTarget.seeds
    case .configuration: seeds = ConfigurationTarget.seeds
    case .journal: seeds = JournalTarget.seeds
    case .http: seeds = HostileBytes.heads
    case .frames: seeds = HostileBytes.frames
    case .messagepack: seeds = MessagePackTarget.seeds
    default: seeds = FuzzTarget.bodies(of: [self])
    }
    for (number, bytes) in seeds.enumerated() where !bytes.isEmpty {
      let path = "\(folder)/seed-\(number)"
      guard let file = fopen(path, "we") else { fatalError("cannot write \(path)") }
      fwrite(bytes, 1, bytes.count, file)
      fclose(file)
    }
  }

  private static func bodies(of targets: [FuzzTarget]) -> [[UInt8]] {
    guard let bodies = try? HostileBody.all() else { fatalError("the fixtures are not there") }
    let probes = Set(targets.flatMap { FuzzTarget.probes[$0] ?? [] }.map(\.shape))
    return bodies.filter { probes.contains($0.probe.shape) }.map(\.bytes)
  }
}

extension Probe {
  /// The question without its particulars: `kline`, `bars`.
  fileprivate var shape: String {
    if name.hasPrefix("calendar ") {
      return name.hasPrefix("calendar us") ? "sessions" : "calendar"
    }
    return name.split(separator: " ").first.map(String.init) ?? name
  }
}
