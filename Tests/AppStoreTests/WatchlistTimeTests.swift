import AppStore
import Market
import TestSupport
import TestTraits
import Testing

@Suite(.ownThread) struct WatchlistTimeTests {
  private static let symbols = ["sh600519", "sz000001", "bj920000"].compactMap { Symbol($0) }

  private func entries(_ places: Int...) -> [WatchlistEntry] {
    places.map { WatchlistEntry(symbol: Self.symbols[$0]) }
  }

  @Test func `a list has the time of its last change, and what changes nothing is none`() throws {
    let database = try AppDatabase()
    let lists = WatchlistTable(try database.connection(), userID: try database.user())
    let id = try lists.create(named: "a", with: entries(0)).id
    let other = try lists.create(named: "b").id
    let made = try lists.one(id)
    #expect(made.createdAt <= made.updatedAt && made.items.map(\.symbol) == [Self.symbols[0]])
    var last = made.updatedAt
    func expect(_ isChange: Bool, _ what: String) throws {
      let now = try lists.one(id)
      #expect((now.updatedAt > last) == isChange, "\(what)")
      #expect(now.createdAt == made.createdAt)
      last = now.updatedAt
    }
    try lists.rename(id, to: "c")
    try expect(true, "rename")
    try lists.put(WatchlistItem(symbol: Self.symbols[1]), in: id)
    try expect(true, "put")
    try lists.add(Self.symbols[2], to: id)
    try expect(true, "add")
    try lists.add(Self.symbols[2], to: id)
    try expect(false, "add again")
    try lists.remove(Self.symbols[2], from: id)
    try expect(true, "remove")
    try lists.remove(Self.symbols[2], from: id)
    try expect(false, "remove again")
    _ = try lists.replaceItems(of: id, with: entries(2, 0))
    try expect(true, "replace")
    try lists.update(id, name: "d", entries: entries(1))
    try expect(true, "update")
    try lists.update(id, name: nil, entries: nil)
    try expect(false, "update by nothing")
    try lists.delete(other)
    try expect(false, "another one")
    let changed = try lists.one(id)
    #expect(changed.name == "d" && changed.items.map(\.symbol) == [Self.symbols[1]])
  }

  @Test func `name and symbols change together or not at all, and triggers stay`() throws {
    let database = try AppDatabase()
    let lists = WatchlistTable(try database.connection(), userID: try database.user())
    _ = try lists.create(named: "taken")
    let id = try lists.create(named: "a").id
    let triggers = PriceTriggers(low: ExactDecimal(5))
    try lists.put(WatchlistItem(symbol: Self.symbols[0], triggers: triggers), in: id)
    try lists.add(Self.symbols[0], to: id)
    let before = try lists.one(id)
    #expect(before.items.first?.triggers == triggers)
    #expect(throws: AppStoreError.nameTaken("taken")) {
      try lists.update(id, name: "taken", entries: entries(1))
    }
    let twice = AppStoreError.invalid(field: "symbols", expected: "each symbol once")
    #expect(throws: twice) { try lists.update(id, name: "b", entries: entries(1, 1)) }
    #expect(throws: twice) { try lists.create(named: "b", with: entries(1, 1)) }
    #expect(throws: AppStoreError.nameTaken("taken")) {
      try lists.create(named: "taken", with: entries(1))
    }
    #expect(throws: AppStoreError.unknown(.watchlist, 99)) {
      try lists.update(99, name: "b", entries: nil)
    }
    #expect(throws: AppStoreError.unknown(.watchlist, 99)) {
      try lists.add(Self.symbols[1], to: 99)
    }
    #expect(try lists.one(id) == before && lists.all().count == 2)
    try lists.update(id, name: "b", entries: entries(1, 0))
    #expect(try lists.one(id).items.last?.triggers == triggers)
  }
}
