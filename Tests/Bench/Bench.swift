/// `candled-bench [--minutes N] [--days N] [--followers N] [SECTION …]`: what candled costs,
/// measured here and now.
///
/// Absolute times drift from machine to machine and hour to hour, so every section measures both
/// sides (ours and the floor or the peer) in one run and prints the ratio. A section is one file
/// and one line in `sections`. A bound that is missed is a result; only a section that cannot
/// measure ends with a status other than 0.

import Glibc

@main
struct Bench {
  static let sections: [BenchSection] = [
    decodeSection, pagesSection, candlesSection, pipelineSection, commitSection, latencySection,
    footprintSection, querySection, analystSection, pythonSection, historySection,
    gatewaySection, requestsSection, chartSection, brokerSection,
  ]

  static func main() async {
    if let server = PeerServer(CommandLine.arguments.dropFirst()) { await server.run() }
    guard let plan = BenchPlan(CommandLine.arguments.dropFirst()) else { exit(64) }
    Machine.describe()
    var failed = 0
    for section in sections where plan.sections.isEmpty || plan.sections.contains(section.name) {
      printLine("\n\(section.name): \(section.title)")
      do {
        try await section.run(plan)
      } catch {
        printLine("  FAILED: \(error)")
        failed += 1
      }
    }
    exit(failed == 0 ? 0 : 70)
  }
}

/// What the command line asks for.
struct BenchPlan: Sendable {
  var sections: Set<String> = []
  /// Of the day that `footprint` runs; nil is all of it.
  var minutes: Int?
  /// With minutes of the whole market, in the database that `analyst` asks.
  var days = 19
  /// Of the largest crowd that `gateway` serves.
  var followers = 10_000
  /// 325 M candles.
  private let daysMax = 250

  /// nil, once the reason is printed, if the arguments cannot be read.
  init?(_ arguments: some Sequence<String>) {
    let names = Bench.sections.map(\.name)
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      if argument == "--minutes", let count = rest.popFirst().flatMap({ Int($0) }), count > 0 {
        minutes = count
      } else if argument == "--days", let count = rest.popFirst().flatMap({ Int($0) }),
        (1...daysMax).contains(count)
      {
        days = count
      } else if argument == "--followers", let count = rest.popFirst().flatMap({ Int($0) }),
        (10...FanOut.followersMax).contains(count)
      {
        followers = count
      } else if names.contains(argument) {
        sections.insert(argument)
      } else {
        printLine(
          "cannot read `\(argument)`; sections: \(names.joined(separator: ", ")); "
            + "--minutes N, --days N, --followers N")
        return nil
      }
    }
  }
}
