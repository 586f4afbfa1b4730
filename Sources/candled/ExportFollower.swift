/// `candled export --follow`: looks at the database now and then, and writes the files of the days
/// that have closed since. Each look has a connection of its own: one that fails costs that look
/// alone, and what it did not come to is done by the next.

import Commands
import Market
import Operations
import Postgres
import Reader

struct ExportFollower {
  private let command: Export
  private let address: String
  private let stop = Interrupt()
  private var done: Set<MarketDay> = []
  /// Days before are not looked for any more.
  private var first: TradingDay

  /// Certificates that are later than those of a following day come within a week.
  private static let lateDaysMax = 7
  /// A database may hang.
  private static let stopSecondsMax = 5

  init(_ command: Export, address: String) {
    self.command = command
    self.address = address
    first = command.day.days.lowerBound
  }

  /// - Throws: what the first look throws; later, what does not pass by itself.
  mutating func run() throws {
    try ServiceSignals.watch(secondsMax: Self.stopSecondsMax) { [stop] in stop.signal() }
    try look(isFirst: true)
    var isFailing = false
    while !stop.wait(milliseconds: Int32(clamping: command.every * 1_000)) {
      do {
        try look()
        isFailing = false
      } catch {
        guard let failure = CommandFailure(of: error),
          [.unavailable, .temporaryFailure].contains(failure.status)
        else { throw error }
        let sentence = failure.sentence ?? "no answer"
        if !isFailing { StandardError.writeLine("\(sentence); trying again") }
        isFailing = true
      }
    }
  }

  private mutating func look(isFirst: Bool = false) throws {
    let reader = try StoreReader(url: address)
    let given = try command.givenDays(reader)
    let markets = Set(given.map(\.market))
    let closed = try reader.closedDays(from: first).filter { markets.contains($0.market) }
    let lacking = (isFirst ? given : []) + closed.filter { !done.contains($0) }
    if lacking.isEmpty { return }
    let export = try command.open(reader, until: stop)
    for each in lacking where !done.contains(each) {
      switch try command.write(each, by: export) {
      case .written, .present: done.insert(each)
      case .early, .empty: continue
      }
    }
    done.formUnion(closed)
    if let newest = closed.last?.day {
      first = max(first, newest.advanced(by: -Self.lateDaysMax))
    }
  }
}
