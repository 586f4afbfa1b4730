import Market
import TestSupport
import Testing

@testable import Store

/// Rules as rows, and what the schema's functions make of them.
@Suite struct RuleTableTests {
  private func book(_ lines: String) -> RuleBook {
    RuleBook(operators: RuleFile.parse(lines, isOperators: true).rules)
  }

  @Test func `an equal rule is left alone, another ends it, and both stay`() async throws {
    let database = try StoreDatabase()
    let writer = StoreWriter(url: database.url)
    try await writer.connect()
    let shipped = RuleBook()
    try await writer.record(shipped)
    let count = try database.value("select count(*) from candled.rule")
    #expect(count == String(shipped.rules.count))
    try await writer.record(shipped)
    #expect(try database.value("select count(*) from candled.rule") == count)
    try await writer.record(book("cn,sh520999,,same_day_sale,yes,2027-01-04,,SSE's \"list\""))
    try await writer.record(book("cn,sh520999,,same_day_sale,no,2027-01-04,,SSE"))
    #expect(
      try database.execute(
        """
        select value, from_day, to_day, source, is_operators, known_to is null
        from candled.rule
        where board = 'sh520999'
        order by id
        """) == [
          ["yes", "2027-01-04", "infinity", "SSE's \"list\"", "t", "f"],
          ["no", "2027-01-04", "infinity", "SSE", "t", "t"],
        ])
    try await writer.record(shipped)
    let standing = "select count(*) from candled.rule where known_to is null"
    #expect(try database.value(standing) == count)
  }

  @Test func `hours without a day count as soon as they are written`() async throws {
    let database = try StoreDatabase()
    let writer = StoreWriter(url: database.url)
    try await writer.connect()
    let close = """
      select (h.edges[4] at time zone 'Asia/Shanghai')::time
      from candled.market m
      cross join lateral candled.market_hours(m, '2029-01-08') h
      where m.name = 'cn'
      """
    try await writer.record(RuleBook())
    #expect(try database.value(close) == "15:00:00")
    try await writer.record(book("cn,,,hours,09:30-11:30 13:00-16:00,,,notice"))
    #expect(try database.value(close) == "16:00:00")
  }

  @Test func `days are cut by the hours of their own day`() async throws {
    let database = try StoreDatabase()
    let writer = StoreWriter(url: database.url)
    try await writer.connect()
    try await writer.record(
      book(
        "cn,,,hours,09:30-11:30 13:00-16:00,2029-01-08,,notice\n"
          + "cn,,,closing_auction,15:57-16:00,2029-01-08,,notice"))
    func hours(_ day: String) throws -> [String?] {
      try database.execute(
        """
        select
          (h.edges[4] at time zone 'Asia/Shanghai')::time,
          (h.silent[1] at time zone 'Asia/Shanghai')::time, cardinality(h.silent)
        from candled.market m
        cross join lateral candled.market_hours(m, '\(day)') h
        where m.name = 'cn'
        """)[0]
    }
    #expect(try hours("2029-01-05") == ["15:00:00", "14:57:00", "2"])
    #expect(try hours("2029-01-08") == ["16:00:00", "15:57:00", "2"])
  }
}
