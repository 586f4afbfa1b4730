import Commits
import Market
import TestSupport
import Testing

@testable import Postgres
@testable import Store

@Suite struct WireBufferTests {
  @Test func `ten thousand random decimals arrive with their own digits`() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    let edges = [Int64.max, Int64.min, 0, 1, -1, 9_999, 10_000, 10_001, 100_000_000]
    let decimals =
      edges.flatMap { units in
        (0...ExactDecimal.scaleMax).map { ExactDecimal(units: units, scale: $0) }
      } + (0..<10_000).map { _ in random.decimal() }
    let database = try StoreDatabase()
    let connection = try PostgresConnection(url: database.url, application: "test")
    var parameters = WireParameters()
    parameters.add { $0.array(decimals, type: .numeric) { $0.numeric($1) } }
    let response = try connection.run(
      Statement(
        name: "echo",
        sql: """
          select v::text, v
          from unnest($1::numeric[]) with ordinality as t (v, place)
          order by place
          """),
      with: parameters, context: "test")
    for (decimal, row) in zip(decimals, response.rows) {
      var row = row
      #expect(try row.text() == decimal.description, "seed \(seed)")
      let back = try row.numeric()
      #expect(back.units == decimal.units && back.scale == decimal.scale, "seed \(seed)")
    }
    #expect(response.rowCount == decimals.count)
  }
}

extension SplitMix {
  mutating func decimal() -> ExactDecimal {
    let digits = UInt64.random(in: 0...62, using: &self)
    let units = Int64(truncatingIfNeeded: next() >> (63 - digits)) & Int64.max
    return ExactDecimal(
      units: Bool.random(using: &self) ? units : -units,
      scale: UInt8.random(in: 0...18, using: &self))
  }
}
