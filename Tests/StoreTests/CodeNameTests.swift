import Feeds
import Market
import TestSupport
import Testing

/// The words SQL shows for stored codes are the domain's own.
@Suite struct CodeNameTests {
  private func names(_ function: String, _ codes: [Int16]) throws -> [String?] {
    let database = try StoreDatabase()
    return try codes.map { try database.value("select candled.\(function)(\($0)::smallint)") }
  }

  @Test func `gap causes`() throws {
    let all = GapCause.allCases
    #expect(try names("gap_cause_name", all.map(\.rawValue)) == all.map(\.name))
  }

  @Test func `revision causes`() throws {
    let all = RevisionCause.allCases
    #expect(try names("revision_cause_name", all.map(\.rawValue)) == all.map(\.name))
  }

  @Test func timeframes() throws {
    let all = Timeframe.allCases
    #expect(try names("timeframe_name", all.map(\.rawValue)) == all.map(\.name))
  }

  @Test func sources() throws {
    let all = SourceRegistry.series
    #expect(try names("source_name", all.map(\.source.rawValue)) == all.map(\.name))
  }

  @Test func kinds() throws {
    let all = InstrumentKind.allCases
    #expect(try names("kind_name", all.map(\.rawValue)) == all.map(\.name))
  }

  @Test func `trading states`() throws {
    let all = TradingState.allCases
    #expect(try names("trading_name", all.map { Int16($0.rawValue) }) == all.map(\.name))
  }
}
