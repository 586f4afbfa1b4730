/// `candled gaps`: counts the gaps, and fills them.

import ArgumentParser
import Commands
import DaemonCommands
import Feeds
import History
import Market
import Operations
import Postgres
import Reader

struct Gaps: AsyncParsableCommand, DrainsOnSignal {
  static let configuration = CommandConfiguration(
    abstract: "Count the gaps, and fill them.",
    discussion: Help.discussion(
      """
      Counts open, closed and permanent gaps by cause. With --fill, requests the minutes of every \
      day with an open gap again, as far back as the source has minutes; the daemon does the \
      same after each close. `candled query gaps` prints the gaps.
      """,
      examples: [
        "candled gaps": "the number of gaps by cause",
        "candled gaps --fill": "fill all open gaps",
        "candled gaps sh600519 --fill": "fill the open gaps of one instrument",
      ]))

  @Argument(help: "The instrument, in any spelling; all if none is named.")
  var symbol: String?

  @Flag(help: "Request the missing minutes from the source.")
  var fill = false

  @OptionGroup var options: ConfigurationOptions

  func run() async throws {
    let settings = try options.load()
    guard fill else { return try count(at: settings.storeAddress()) }
    let session = try BackfillSession(settings)
    let chosen = try symbol.map(BackfillPlanner.resolve)
    try await session.whileOpen {
      try await requestMinutes(of: chosen, by: session)
      try StandardOutput.write(lines: session.reader().gapCounts(of: chosen))
    }
  }

  /// Needs no more than a reader may.
  private func count(at address: String) throws {
    let queries = try StoreReader(url: address)
    let chosen = try symbol.map { try SymbolDirectory(queries).resolve($0) }
    try StandardOutput.write(lines: queries.gapCounts(of: chosen))
  }

  private func requestMinutes(of symbol: Symbol?, by session: BackfillSession) async throws {
    let schedule = try await session.repairs(of: symbol)
    StandardError.writeLine(
      "requesting the minutes of \(counted(schedule.tasks.count, "instrument"))")
    if schedule.isEmpty { return }
    try await session.run(schedule, source: .live, journal: "gaps", resumption: "rerun later")
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
