import AppStore
import Market
import Postgres
import TestSupport
import TestTraits
import Testing

@Suite(.ownThread) struct HoldingTriggerTests {
  private static let symbol = Symbol("sh600519")
  private let database: AppDatabase
  private let connection: AppConnection
  private let user: Int64
  private let account: Int64

  init() throws {
    database = try AppDatabase()
    connection = try database.connection()
    user = try database.user()
    account = try LedgerTable(connection).create(
      userID: user, name: "纸上", market: "cn", currency: "CNY")
  }

  private func put(_ low: String?, _ high: String?) throws {
    let triggers = PriceTriggers(
      low: try low.map { try ExactDecimal($0) }, high: try high.map { try ExactDecimal($0) })
    let symbol = try #require(Self.symbol)
    try HoldingTable(connection).put(triggers, of: symbol, in: account)
  }

  private func stored() throws -> [[String?]] {
    try database.store.execute("select symbol, low, high from candled_app.holding_trigger")
  }

  @Test func `triggers keep their scale, and are replaced whole`() throws {
    try put("1769.040", "1800.10")
    #expect(try stored() == [["sh600519", "1769.040", "1800.10"]])
    try put(nil, "1801")
    #expect(try stored() == [["sh600519", nil, "1801"]])
  }

  private static let faults: [(String?, String?, String)] = [
    ("0", nil, "low"), ("-1", "2", "low"), ("3", "2", "low"), (nil, "0", "high"),
  ]

  @Test(arguments: faults)
  func `triggers that can never be meant are refused, by the database too`(
    _ low: String?, _ high: String?, _ field: String
  ) throws {
    let error = #expect(throws: AppStoreError.self) { try put(low, high) }
    guard case .invalid(let found, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(found == field)
    #expect(throws: StoreError.self) {
      try database.store.execute(
        """
        insert into candled_app.holding_trigger
        values (\(account), 'sh600519', \(low ?? "null"), \(high ?? "null"))
        """)
    }
    #expect(try stored() == [])
  }

  @Test func `the version of an account changes with its triggers`() throws {
    func version() throws -> AccountVersion? {
      try AccountVersion.all(of: [user], over: connection).first
    }
    var seen: Set<AccountVersion?> = [try version()]
    for (low, high) in [("1", nil), ("2", nil), (nil, "2")] as [(String?, String?)] {
      try put(low, high)
      seen.insert(try version())
    }
    #expect(seen.count == 4 && !seen.contains(nil))
    try put(nil, "2")
    #expect(seen.contains(try version()))
  }
}
