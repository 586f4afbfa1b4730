import Candles
import Commits
import Feeds
import Journal
import Market
import TestSupport
import Testing

@testable import Ingest

/// What shows that a rule has changed which nobody entered.
@Suite struct RuleBreachTests {
  private var pipeline = Pipeline()
  private var position: Int64 = 0

  /// Takes in rows of one response.
  private mutating func process(
    _ rows: [SinaSweep.Row], at time: String
  ) throws -> Digest {
    position += 1
    let at = try #require(Timestamp(rfc3339: "2026-07-06T\(time)+08:00"))
    let symbols = rows.map(\.symbol).joined(separator: ",")
    return pipeline.process(
      .quotes(
        group: 0, symbols: Array(symbols.utf8), requestedAt: at, receivedAt: at, status: 200,
        body: rows.flatMap { SinaSweep.line($0) }), at: JournalPosition(position))
  }

  /// Of the main board of Shanghai, all at one time.
  private func rows(_ count: Int, at time: String) -> [SinaSweep.Row] {
    var sweep = SinaSweep(seed: 11)
    return (0..<count).map { index in
      var row = sweep.row(index: index / 8 * 20 + index % 8)
      row.time = time
      return row
    }
  }

  @Test func `a source whose volumes are a hundredfold from the day's first row is held whole`()
    throws
  {
    var tests = self
    var rows = rows(60, at: "09:31:00")
    // A hundredth of a board is no unit of the whole, but three rows of sixty are.
    for index in 0..<3 { rows[index].volume *= 100 }
    let digest = try tests.process(rows, at: "09:31:01")
    #expect(digest.response == .quotes(.malformed))
    #expect(digest.accepted == 0 && digest.rejected == 3)
    #expect(tests.pipeline.counters.ruleBreaches == [.volumeUnit: 1])
    #expect(tests.pipeline.stages[0].latest.allSatisfy { $0 == nil })
    let sound = try tests.process(self.rows(60, at: "09:31:03"), at: "09:31:04")
    #expect(sound.accepted == 60)
  }

  @Test func `two damaged rows are refused alone`() throws {
    var tests = self
    var rows = rows(60, at: "09:31:00")
    for index in 0..<2 { rows[index].volume *= 100 }
    let digest = try tests.process(rows, at: "09:31:01")
    #expect(digest.accepted == 58 && digest.rejected == 2)
    #expect(tests.pipeline.counters.ruleBreaches.isEmpty)
  }

  @Test func `rows whose prices are tenfold are no sign of another unit`() throws {
    var tests = self
    var rows = rows(60, at: "09:31:00")
    for index in 0..<6 {
      rows[index].open *= 10
      rows[index].last *= 10
      rows[index].high *= 10
      rows[index].low *= 10
    }
    let digest = try tests.process(rows, at: "09:31:01")
    #expect(digest.accepted == 54 && digest.rejected == 6)
    #expect(tests.pipeline.counters.ruleBreaches.isEmpty)
  }

  @Test func `volume that grows after the close counts, and is noticed`() throws {
    var tests = self
    var rows = rows(1, at: "15:00:03")
    _ = try tests.process(rows, at: "15:00:06")
    rows[0].time = "15:20:00"
    _ = try tests.process(rows, at: "15:20:03")
    #expect(tests.pipeline.counters.ruleBreaches.isEmpty)
    rows[0].volume += 100
    rows[0].turnover += 100 * rows[0].low
    rows[0].time = "15:21:00"
    let digest = try tests.process(rows, at: "15:21:03")
    #expect(digest.accepted == 1)
    #expect(tests.pipeline.counters.ruleBreaches == [.outsideHours: 1])
    let kept = tests.pipeline.pending.commit.rejections
    #expect(kept.count == 1 && kept.first?.detail.hasPrefix("kept: volume grew") == true)
  }

  @Test func `a price off the tick counts, and is noticed`() throws {
    var tests = self
    var rows = rows(1, at: "10:00:00")
    (rows[0].low, rows[0].high) = (rows[0].low - 10, rows[0].high + 10)
    rows[0].last += 5
    rows[0].turnover = rows[0].volume * rows[0].last
    let digest = try tests.process(rows, at: "10:00:03")
    #expect(digest.accepted == 1)
    #expect(tests.pipeline.counters.ruleBreaches == [.offTick: 1])
  }

  @Test func `rows that break a rule all day hide no row that is refused`() throws {
    var rows = PendingRows()
    let at = try #require(Timestamp(rfc3339: "2026-07-06T10:00:00+08:00"))
    func row(_ number: UInt8) -> Rejection {
      Rejection(
        source: .live, receivedAt: at, symbol: Symbol("sh600000"), reason: .implausible,
        detail: "row \(number)", payload: [number])
    }
    for number in 0..<50 { rows.keep(row(UInt8(number)), isBooked: true) }
    #expect(rows.commit.rejections.count < 50)
    rows.keep(row(50))
    #expect(rows.commit.rejections.last == row(50))
  }

  @Test func `a code of no kind counts, and is noticed once`() throws {
    var tests = self
    var rows = rows(1, at: "10:00:00")
    rows[0].symbol = "sz309001"
    #expect(try tests.process(rows, at: "10:00:03").accepted == 1)
    rows[0].time = "10:00:03"
    _ = try tests.process(rows, at: "10:00:06")
    #expect(tests.pipeline.counters.ruleBreaches == [.unknownPrefix: 1])
  }

  @Test func `lines with a further field count, and are noticed`() throws {
    var tests = self
    let row = rows(1, at: "10:00:00")[0]
    var body = SinaSweep.line(row)
    body.insert(contentsOf: Array(",new,fields".utf8), at: body.count - 3)
    let at = try #require(Timestamp(rfc3339: "2026-07-06T10:00:03+08:00"))
    let digest = tests.pipeline.process(
      .quotes(
        group: 0, symbols: Array(row.symbol.utf8), requestedAt: at, receivedAt: at, status: 200,
        body: body), at: JournalPosition(1))
    #expect(digest.accepted == 1)
    #expect(tests.pipeline.counters.ruleBreaches == [.fieldCount: 1])
  }
}
