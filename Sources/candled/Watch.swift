/// `candled watch`: the change feed on standard output, a line an item.

import ArgumentParser
import CandledClient
import Operations
import Postgres
import Reader
import TerminalView

struct Watch: AsyncParsableCommand, DrainsOnSignal {
  static let configuration = CommandConfiguration(
    abstract: "Follow the change feed.",
    discussion: Help.discussion(
      """
      Prints the latest quotes, then a line for every final candle, revision, gap, certificate and \
      completed minute as it is committed, until a signal. A lost connection is said on standard \
      error and opened again; nothing is skipped or repeated by it. Each line carries its seq: \
      with --after a later watch goes on behind it, without the quotes.
      """,
      examples: [
        "candled watch sh600519": "one instrument, for people",
        "candled watch --json --after 1200": "everything behind change 1200",
        "candled watch --count 1 --timeout 10": "is anything coming at all?",
      ]))

  @Argument(help: "Instruments, in any spelling; all if none is named.")
  var symbols: [String] = []

  @Flag(help: "Print one JSON object a line.")
  var json = false

  @Option(help: "Go on behind this change, without the latest quotes.")
  var after: Int64?

  @Option(help: "End after so many lines that are no quotes.")
  var count: Int?

  @Option(help: "End after so many seconds.")
  var timeout: Int?

  @OptionGroup var options: ConfigurationOptions

  func validate() throws {
    if let after, after < 0 { throw ValidationError("--after is a number from 0 on") }
    if let count, count < 1 { throw ValidationError("--count is a number from 1 on") }
    if let timeout, timeout < 1 { throw ValidationError("--timeout is a number from 1 on") }
  }

  func run() async throws {
    let address = try options.load().storeAddress()
    let chosen = try symbols.isEmpty ? nil : Set(resolve(at: address))
    let following = Task { try await follow(address, chosen) }
    try ServiceSignals.watch { following.cancel() }
    let clock = timeout.map { seconds in
      Task {
        try await Task.sleep(for: .seconds(seconds))
        following.cancel()
      }
    }
    defer { clock?.cancel() }
    try await CommandFailure.translating { try await following.value }
  }

  private func resolve(at address: String) throws -> [Symbol] {
    let directory = try CommandFailure.asking { () throws(StoreError) in
      try SymbolDirectory(StoreReader(url: address))
    }
    return try directory.resolve(symbols)
  }

  private func follow(_ address: String, _ chosen: Set<Symbol>?) async throws {
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
    case .lost(let error): StandardError.writeLine("\(error); trying again")
    case .restored: StandardError.writeLine("connected again")
    }
  }
}
