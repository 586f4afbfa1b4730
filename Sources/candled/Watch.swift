/// `candled watch`: the change feed on standard output, a line an item.

import ArgumentParser
import CandledClient
import Commands
import Operations
import Postgres
import Reader
import TerminalView

struct Watch: AsyncParsableCommand, DrainsOnSignal {
  static let configuration = CommandConfiguration(
    abstract: "Follow the change feed.",
    discussion: Help.discussion(
      """
      Prints the latest quotes, then one line for every final candle, revision, gap, certificate \
      and completed minute as it is committed, until a signal. A lost connection is reported on \
      standard error and opened again; no line is skipped or repeated. Each line has its seq: \
      `--after seq` continues there, without the quotes.
      """,
      examples: [
        "candled watch sh600519": "one instrument, as text",
        "candled watch --json --after 1200": "everything after change 1200",
        "candled watch --count 1 --timeout 10": "the next event within ten seconds",
      ]))

  @Argument(help: "The instruments, in any spelling. (default: all)")
  var symbols: [String] = []

  @Flag(help: "Print one JSON object per line.")
  var json = false

  @Option(help: "Continue after this change, without the latest quotes.")
  var after: Int64?

  @Option(help: "Stop after this many lines, quotes not counted.")
  var count: Int?

  @Option(help: "Stop after this many seconds.")
  var timeout: Int?

  @OptionGroup var options: ConfigurationOptions

  func validate() throws {
    if let after, after < 0 { throw ValidationError("--after takes a number from 0") }
    if let count, count < 1 { throw ValidationError("--count takes a number above 0") }
    if let timeout, timeout < 1 { throw ValidationError("--timeout takes a number above 0") }
  }

  func run() async throws {
    let address = try options.load().storeAddress()
    let chosen =
      try symbols.isEmpty
      ? nil : Set(SymbolDirectory(StoreReader(url: address)).resolve(symbols))
    // Unstructured: a signal cancels it.
    let following = Task { try await follow(address, about: chosen) }
    try ServiceSignals.watch { following.cancel() }
    async let _: Void = cancel(following)
    try await following.value
  }

  private func cancel(_ following: Task<Void, any Error>) async throws {
    guard let timeout else { return }
    try await Task.sleep(for: .seconds(timeout))
    following.cancel()
  }

  private func follow(_ address: String, about chosen: Set<Symbol>?) async throws {
    let client = try await CandledClient.connect(address)
    var epoch: Int64?
    var start = after
    if start == nil {
      let snapshot = try await client.snapshot()
      epoch = snapshot.epoch
      start = snapshot.seq
      try write(
        snapshot.quotes.filter { chosen?.contains($0.quote.symbol) ?? true }.map { .quote($0) })
    }
    var left = count ?? .max
    for try await item in client.follow(after: start, epoch: epoch, onConnection: Self.report) {
      let lines = WatchLine.lines(of: item, about: chosen).prefix(left)
      try write(Array(lines))
      left -= lines.count
      if left == 0 { return }
    }
  }

  private func write(_ lines: [WatchLine]) throws {
    try StandardOutput.write(lines: lines.map { json ? $0.json : $0.text })
  }

  @Sendable private static func report(_ connection: FeedConnection) {
    switch connection {
    case .lost(let error): StandardError.writeLine("\(error); reconnecting")
    case .restored: StandardError.writeLine("reconnected")
    }
  }
}
