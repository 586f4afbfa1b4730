import Market
import TestSupport
import TestTraits
import Testing

@testable import Postgres
@testable import Store

/// Whatever is written between two steps, and wherever a run is killed, the month ends with every
/// candle as a table beside it has it, to which the same was done.
@Suite(.ownThread) struct ReclusteringPropertyTests {
  private static let june = ReclusteringSession.Month(firstDay: ClosedMonth.end.advanced(by: -30))

  @Test(arguments: (0..<6).map { _ in UInt64.random(in: 1...1_000_000) })
  func `writes between the steps and kills lose nothing`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let month = try ClosedMonth(on: StoreDatabase(), instruments: 4, days: 3, seed: seed)
    try month.database.execute("create table candled.shadow as select * from candled.candle")
    let url = try month.database.daemonURL()
    var session = try ReclusteringSession(url: url, gate: nil)
    var (steps, kills, isSwapped) = (0, 0, false)
    while !isSwapped, steps < 500 {
      steps += 1
      if Bool.random(using: &random) { try write(month, &random) }
      if Int.random(in: 0..<6, using: &random) == 0 {
        kills += 1
        try killInside(url: url, isSwap: Bool.random(using: &random))
        session = try ReclusteringSession(url: url, gate: nil)
      }
      let writer = try openWriter(month, &random)
      do throws(StoreError) {
        if try session.step(of: Self.june).step == "ready" {
          isSwapped = try session.swap(Self.june)
        }
      } catch {
        guard error.sqlState == StoreError.lockNotAvailable else { throw error }
      }
      try writer?.execute("commit", context: "test")
    }
    #expect(isSwapped && kills > 0, "seed \(seed), \(steps) steps")
    #expect(try month.contents() == month.contents(of: "shadow"), "seed \(seed)")
    #expect(
      try month.database.value("select rows from candled.candle_month where rows is not null")
        == month.contents()[0][0], "seed \(seed)")
    #expect(
      try month.form(of: "candled.candle_2026_06") == month.form(of: "candled.candle_2026_07"),
      "seed \(seed)")
  }

  private func statement(_ random: inout SplitMix) -> String {
    let instrument = Int.random(in: 1...5, using: &random)
    let (day, minute) = (
      Int.random(in: 1...4, using: &random), Int.random(in: 0..<300, using: &random)
    )
    let at = "timestamptz '2026-06-0\(day) 09:30+08' + \(minute) * interval '1 minute'"
    let key = "(instrument_id, timeframe, opened_at) = (\(instrument), 1, \(at))"
    return switch Int.random(in: 0..<4, using: &random) {
    case 0: "delete from candled.TABLE where \(key)"
    case 1:
      """
      insert into candled.TABLE
        (opened_at, closed_at, known_from, instrument_id, trading_day, timeframe, flags, source,
        revision, open, high, low, close, volume, turnover)
      select at, at + interval '1 minute', at, \(instrument), '2026-06-0\(day)', 1, 0, 1, 0, 10, 11,
        9, 10, \(Int.random(in: 0...1_000, using: &random)), null
      from (select \(at) as at) a
      where not exists (select from candled.TABLE where \(key))
      """
    case 2:
      """
      update candled.TABLE set revision = revision + 1, volume = volume + 1
      where (instrument_id, timeframe) = (\(instrument), 1) and opened_at < \(at)
      """
    default: "update candled.TABLE set close = low where \(key)"
    }
  }

  private func both(_ statement: String) -> String {
    ["candle", "shadow"].map { statement.replacing("TABLE", with: $0) }.joined(separator: ";\n")
  }

  private func write(_ month: ClosedMonth, _ random: inout SplitMix) throws {
    try month.database.execute(both(statement(&random)))
  }

  /// Sometimes one that commits after the next step.
  private func openWriter(
    _ month: ClosedMonth, _ random: inout SplitMix
  ) throws -> PostgresConnection? {
    guard Int.random(in: 0..<4, using: &random) == 0 else { return nil }
    let writer = try PostgresConnection(url: month.database.url, application: "writer")
    try writer.execute("begin; \(both(statement(&random)))", context: "test")
    return writer
  }

  /// The work of a step is done and its transaction is not committed.
  private func killInside(url: String, isSwap: Bool) throws {
    let connection = try PostgresConnection(url: url, application: "killed")
    try connection.execute("begin", context: "test")
    _ = try? connection.execute(
      "select \(isSwap ? "swap_month" : "recluster_month")('2026-06-01')", context: "test")
  }
}
