/// `candled gaps`: the holes of the ledger, and the order to look for what is in them.

import ArgumentParser
import Market
import Operations
import Postgres
import Reader

struct Gaps: AsyncParsableCommand, DrainsOnSignal {
  static let configuration = CommandConfiguration(
    abstract: "Show what is missing, and look for it.",
    discussion: Help.discussion(
      """
      Counts the gaps that are open, closed and permanent, and why. With --fill, asks the source \
      once more for the minutes of every day with an open gap, as far back as it has minutes; \
      the daemon does the same after each close. The gaps themselves: `candled query gaps`.
      """,
      examples: [
        "candled gaps": "how many, and why",
        "candled gaps --fill": "look for all that is open",
        "candled gaps sh600519 --fill": "for one instrument's",
      ]))

  @Argument(help: "The instrument, in any spelling; all if none is named.")
  var symbol: String?

  @Flag(help: "Ask the source for what is missing.")
  var fill = false

  @OptionGroup var options: ConfigurationOptions

  func run() async throws {
    let settings = try options.load()
    try await CommandFailure.translating {
      guard fill else { return try count(at: settings.storeAddress()) }
      let backfillSession = try BackfillSession(settings)
      let chosen = try symbol.map { try BackfillSession.resolve($0) }
      try await backfillSession.whileOpen {
        try await look(for: chosen, backfillSession)
        try StandardOutput.write(lines: backfillSession.gapCounts(of: chosen))
      }
    }
  }

  /// Needs no more than a reader may.
  private func count(at address: String) throws {
    let queries = try StoreReader(url: address)
    let chosen = try symbol.map { try SymbolDirectory(queries).resolve($0) }
    try StandardOutput.write(lines: queries.gapCounts(of: chosen))
  }

  private func look(for symbol: Symbol?, _ backfillSession: BackfillSession) async throws {
    let tasks = try await backfillSession.repairTasks(symbol: symbol)
    StandardError.writeLine("asking for the minutes of \(counted(tasks.count, "instrument"))")
    if tasks.isEmpty { return }
    try await backfillSession.run(tasks, source: .live, journal: "gaps", resumption: "rerun later")
  }
}

extension StoreReader {
  /// One line a state and cause: `open outage 12`.
  func gapCounts(of symbol: Symbol?) throws(StoreError) -> [String] {
    let gaps = try gapRecords(symbol: symbol)
    let groups = Dictionary(grouping: gaps) { "\($0.state) \($0.gap.cause.name)" }
    let counts = groups.mapValues(\.count).sorted { $0.key < $1.key }
    return counts.isEmpty ? ["no gaps"] : counts.map { "\($0.key) \($0.value)" }
  }
}
