import ExchangeSimulator
import Ingest
import Market
import Testing

@testable import Journal

@Suite struct RetentionTests {
  @Test func `once a day is certified the journal of older days goes`() async throws {
    var run = try EngineRun()
    run.start = Session.afternoonClose - 60
    run.end = Session.afterHoursClose + 420
    run.limits.journalDaysMax = 0
    try appendEntry(of: run.market.day.advanced(by: -3), to: run.folder)
    _ = try await run.engine(MemorySink()).run()
    let kept = try #require(try JournalReader.positions(in: run.folder.path))
    #expect(kept.lowerBound == JournalPosition(2))
    #expect(kept.upperBound > JournalPosition(2))
  }

  /// An entry of an earlier day is a segment of its own.
  private func appendEntry(of day: TradingDay, to folder: JournalFolder) throws {
    let journal = try JournalWriter(directory: folder.path)
    let noon = Timestamp(day: day, secondOfDay: 12 * 3600)
    try journal.append(.timer(at: noon))
  }
}
