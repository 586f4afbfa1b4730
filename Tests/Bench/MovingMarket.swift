/// A whole market whose share of changed lines a benchmark chooses, as the journal's entries.
///
/// The simulator trades like a market, a quarter of it in a sweep; here every line may change, or
/// none. Lines are rendered outside of what is timed, only those that changed.

import Ingest
import Journal
import Market
import TestSupport

struct MovingMarket {
  static let instruments = 5400
  private static let batch = 800
  static let day = TradingDay(daysSince1970: 20_640)  // 2026-07-06

  private var random = SplitMix(seed: 20_260_706)
  private var rows: [SinaSweep.Row]
  private var lines: [[UInt8]]
  private(set) var second = Session.morningOpen + 3
  private var requests: [[UInt8]] = []
  private var batches: [[Int]] = []

  init() {
    var sweep = SinaSweep(seed: 20_260_706)
    rows = (0..<Self.instruments).map { sweep.row(index: $0) }
    for place in rows.indices {
      rows[place].time = Self.clock(second)
    }
    lines = rows.map { SinaSweep.line($0) }
    // As the poller asks: the reference symbol first in every batch.
    for start in stride(from: 1, to: Self.instruments, by: Self.batch - 1) {
      let end = min(start + Self.batch - 1, Self.instruments)
      batches.append([0] + Array(start..<end))
    }
    requests = batches.map { batch in
      Array(batch.map { rows[$0].symbol }.joined(separator: ",").utf8)
    }
  }

  /// Three seconds pass, and so many of the lines change, the reference symbol's always unless none
  /// does.
  mutating func advance(changing share: Double) {
    second += 3
    if second > Session.morningClose - 3, second < Session.afternoonOpen {
      second = Session.afternoonOpen + 3
    }
    guard share > 0 else { return }
    for place in rows.indices where place == 0 || Double.random(in: 0..<1, using: &random) < share {
      trade(place)
      lines[place] = SinaSweep.line(rows[place])
    }
  }

  private mutating func trade(_ place: Int) {
    var row = rows[place]
    let size = Int64.random(in: 1...50, using: &random) * 100
    let tick: Int64 = row.last % 10 == 0 ? 10 : 1
    let step = Int64.random(in: -1...1, using: &random) * tick
    row.last = min(max(row.last + step, row.low), row.high)
    row.volume += size
    row.turnover += size * row.last
    row.time = Self.clock(second)
    row.bids[0].volume += 100
    row.asks[1].volume += 100
    rows[place] = row
  }

  /// The answers of this sweep, in the order of the groups.
  func entries() -> [JournalEntry] {
    let at = Timestamp(day: Self.day, secondOfDay: second).adding(milliseconds: 400)
    return batches.indices.map { group in
      .quotes(
        group: UInt16(group), symbols: requests[group], requestedAt: at, receivedAt: at,
        body: batches[group].flatMap { lines[$0] })
    }
  }

  private static func clock(_ second: Int) -> String {
    [second / 3600, second / 60 % 60, second % 60]
      .map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }
}
