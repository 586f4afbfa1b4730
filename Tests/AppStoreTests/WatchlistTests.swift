import Dispatch
import Market
import Platform
import Postgres
import TestSupport
import TestTraits
import Testing

@testable import AppStore

@Suite(.ownThread) struct WatchlistTests {
  private static let symbols = ["sh600519", "sz000001", "bj920000", "sh601318", "AAPL", "sz300750"]
    .compactMap { Symbol($0) }

  private func price(_ text: String) throws -> ExactDecimal { try ExactDecimal(text) }

  @Test func `a trigger keeps its scale`() throws {
    let database = try AppDatabase()
    let lists = WatchlistTable(try database.connection(), userID: try database.user())
    let list = try lists.create(named: "自选")
    let triggers = PriceTriggers(low: try price("1769.040"), high: try price("1800.10"))
    try lists.put(WatchlistItem(symbol: Self.symbols[0], triggers: triggers), in: list.id)
    let stored = try lists.one(list.id).items[0].triggers
    #expect(stored.low?.description == "1769.040" && stored.high?.description == "1800.10")
    let order = Self.symbols.reversed().map { WatchlistEntry(symbol: $0) }
    let replaced = try lists.replaceItems(of: list.id, with: order)
    #expect(replaced.items.last?.triggers.low?.description == "1769.040")
    #expect(try lists.one(list.id) == replaced)
  }

  @Test(arguments: [("0", nil), ("-1", "2"), ("3", "2"), (nil, "0")] as [(String?, String?)])
  func `a trigger that can never be meant is refused`(_ low: String?, _ high: String?) throws {
    let database = try AppDatabase()
    let lists = WatchlistTable(try database.connection(), userID: try database.user())
    let list = try lists.create(named: "a")
    let triggers = PriceTriggers(low: try low.map(price), high: try high.map(price))
    #expect(throws: AppStoreError.self) {
      try lists.put(WatchlistItem(symbol: Self.symbols[0], triggers: triggers), in: list.id)
    }
    #expect(try lists.one(list.id).items == [])
  }

  @Test func `one user never sees or changes another's`() throws {
    let database = try AppDatabase()
    let connection = try database.connection()
    let alice = WatchlistTable(connection, userID: try database.user("alice"))
    let bob = WatchlistTable(connection, userID: try database.user("bob"))
    let list = try alice.create(named: "mine")
    let item = WatchlistItem(symbol: Self.symbols[0])
    try alice.put(item, in: list.id)
    let unknown = AppStoreError.unknown(.watchlist, list.id)
    #expect(try bob.all() == [])
    #expect(throws: unknown) { try bob.one(list.id) }
    #expect(throws: unknown) { try bob.rename(list.id, to: "his") }
    #expect(throws: unknown) { try bob.put(item, in: list.id) }
    #expect(throws: unknown) { try bob.remove(item.symbol, from: list.id) }
    #expect(throws: unknown) { try bob.replaceItems(of: list.id, with: []) }
    try bob.delete(list.id)
    let left = try alice.all()
    #expect(left.map(\.id) == [list.id] && left[0].name == "mine" && left[0].items == [item])
    _ = try bob.create(named: "mine")
  }

  @Test func `lists, symbols and names have their bounds`() throws {
    let database = try AppDatabase()
    let lists = WatchlistTable(try database.connection(), userID: try database.user())
    for number in 0..<WatchlistTable.listsMax { _ = try lists.create(named: "\(number)") }
    #expect(throws: AppStoreError.limitReached("more than 100 watchlists")) {
      try lists.create(named: "one more")
    }
    let first = try #require(try lists.all().first)
    #expect(throws: AppStoreError.nameTaken("5")) { try lists.rename(first.id, to: "5") }
    #expect(throws: AppStoreError.self) {
      try lists.rename(first.id, to: String(repeating: "x", count: 65))
    }
    let many = (0..<1_000).compactMap { Symbol("sh\(600_000 + $0)") }
    _ = try lists.replaceItems(of: first.id, with: many.map { WatchlistEntry(symbol: $0) })
    let tooMany = AppStoreError.limitReached("more than 1000 symbols in a watchlist")
    #expect(throws: tooMany) {
      try lists.put(WatchlistItem(symbol: Self.symbols[4]), in: first.id)
    }
    try lists.put(WatchlistItem(symbol: many[999]), in: first.id)
    #expect(throws: AppStoreError.invalid(field: "symbols", expected: "each symbol once")) {
      let twice = [many[0], many[0]].map { WatchlistEntry(symbol: $0) }
      return try lists.replaceItems(of: first.id, with: twice)
    }
  }

  /// What the lists must be: an array, changed as anybody would.
  private struct Model {
    var lists: [Watchlist] = []

    mutating func change(_ id: Int64, _ body: (inout [WatchlistItem]) -> Void) {
      guard let place = lists.firstIndex(where: { $0.id == id }) else { return }
      body(&lists[place].items)
    }
  }

  private func step(
    _ lists: WatchlistTable, _ model: inout Model, number: Int, using random: inout SplitMix
  ) throws {
    let symbol = Self.symbols[Int.random(in: 0..<Self.symbols.count, using: &random)]
    let low = ExactDecimal(units: .random(in: 1...9_999, using: &random), scale: 2)
    let triggers = PriceTriggers(low: Bool.random(using: &random) ? low : nil)
    guard let id = model.lists.randomElement(using: &random)?.id,
      Int.random(in: 0..<10, using: &random) > 0
    else {
      model.lists.append(try lists.create(named: "list \(number)"))
      return
    }
    switch Int.random(in: 0..<10, using: &random) {
    case 0 where model.lists.count > 3:
      try lists.delete(id)
      model.lists.removeAll { $0.id == id }
    case 1:
      try lists.rename(id, to: "renamed \(number)")
      if let place = model.lists.firstIndex(where: { $0.id == id }) {
        model.lists[place].name = "renamed \(number)"
      }
    case 2...5:
      let item = WatchlistItem(symbol: symbol, triggers: triggers)
      try lists.put(item, in: id)
      model.change(id) { items in
        if let place = items.firstIndex(where: { $0.symbol == symbol }) {
          items[place] = item
        } else {
          items.append(item)
        }
      }
    case 6, 7:
      try lists.remove(symbol, from: id)
      model.change(id) { $0.removeAll { $0.symbol == symbol } }
    default:
      let order = Self.symbols.shuffled(using: &random)
        .prefix(.random(in: 0...Self.symbols.count, using: &random))
      _ = try lists.replaceItems(of: id, with: order.map { WatchlistEntry(symbol: $0) })
      model.change(id) { items in
        let before = items
        items = order.map { symbol in
          before.first { $0.symbol == symbol } ?? WatchlistItem(symbol: symbol)
        }
      }
    }
  }

  private static func undated(_ list: Watchlist) -> Watchlist {
    var list = list
    list.updatedAt = list.createdAt
    return list
  }

  @Test func `random commands leave what a plain array would hold`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix(seed: seed)
    let database = try AppDatabase()
    let lists = WatchlistTable(try database.connection(), userID: try database.user())
    var model = Model()
    for number in 0..<300 {
      try step(lists, &model, number: number, using: &random)
      let stored = try lists.all()
      guard stored.map(Self.undated) == model.lists.map(Self.undated) else {
        Issue.record("seed \(seed), command \(number): \(stored) is not \(model.lists)")
        return
      }
    }
    let places = try database.store.execute(
      """
      select 1
      from candled_app.watchlist_item
      group by watchlist_id
      having max(position) <> count(*) - 1
      """)
    #expect(places == [], "seed \(seed)")
  }
}

@Suite(.ownThread) struct PreferenceTests {
  @Test func `preferences are one object, replaced whole`() throws {
    let database = try AppDatabase()
    let preferences = PreferenceTable(try database.connection(), userID: try database.user())
    #expect(try preferences.value() == "{}")
    try preferences.write(#"{"every": "2s", "colours": {"rising": "red"}}"#, merging: false)
    try preferences.write(#"{"every": 5.00}"#, merging: false)
    #expect(try preferences.value() == #"{"every": 5.00}"#)
  }

  @Test(arguments: [
    "", "{", "[]", "1", "null", #"{"a": "\u0000"}"#, "{} {}", "\n[{}]",
    String(repeating: "[", count: 16_000), String(repeating: #"{"a":"#, count: 3_000),
    "{\"a\": \"" + String(repeating: "x", count: 16_384) + "\"}",
    // The stored text has a blank behind each comma.
    "{\"a\":[" + String(repeating: "1,", count: 8_000) + "1]}",
  ])
  func `what is no object, or too large, is refused and changes nothing`(_ json: String) throws {
    let database = try AppDatabase()
    let preferences = PreferenceTable(try database.connection(), userID: try database.user())
    try preferences.write(#"{"every": "1s"}"#, merging: false)
    let error = #expect(throws: AppStoreError.self) {
      try preferences.write(json, merging: Bool.random())
    }
    let isObject = json.hasSuffix("}") && json != "{} {}" && !json.contains("u0000")
    #expect(
      error
        == (isObject
          ? .tooLarge(bytesMax: PreferenceTable.bytesMax)
          : .invalid(field: "body", expected: "one JSON object")))
    #expect(try preferences.value() == #"{"every": "1s"}"#)
  }
}

@Suite struct AppStoreTests {
  @Test func `a lost connection fails one request and is opened again`() async throws {
    let database = try AppDatabase()
    let user = try database.user()
    let store = AppStore(url: database.url)
    let read: @Sendable (AppConnection) throws(AppStoreError) -> [Watchlist] = {
      (connection) throws(AppStoreError) in try WatchlistTable(connection, userID: user).all()
    }
    #expect(try await store.run(read) == [])
    try database.store.endSessions(of: "candled gateway")
    let error = await #expect(throws: AppStoreError.self) { try await store.run(read) }
    guard case .store(let cause) = error else {
      Issue.record("\(error as Any)")
      return
    }
    #expect(cause.code == .connectionLost)
    #expect(try await store.run(read) == [])
  }

  /// Requests of these clients while one of nobody's runs, which ends after so many were refused.
  private func ask(
    _ store: AppStore, as clients: [AccessKey?], untilRefused count: Int
  ) async throws -> (served: [AccessKey?: Int], refused: Int) {
    let (hasBegun, go) = (Locked(false), DispatchSemaphore(value: 0))
    let (served, refused) = (Locked<[AccessKey?: Int]>([:]), Locked(0))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await store.run { _ in
          hasBegun.withLock { $0 = true }
          go.wait()
        }
      }
      defer { go.signal() }
      try await wait { hasBegun.withLock { $0 } }
      for client in clients {
        group.addTask {
          await AccessKey.$current.withValue(client) {
            do throws(AppStoreError) {
              try await store.run { _ in }
              served.withLock { $0[client, default: 0] += 1 }
            } catch {
              guard case .store(let cause) = error else { return }
              refused.withLock { $0 += cause.isTransient ? 1 : 0 }
            }
          }
        }
      }
      try await wait { refused.withLock { $0 } >= count }
      go.signal()
      try await group.waitForAll()
    }
    return (served.withLock { $0 }, refused.withLock { $0 })
  }

  private func wait(for isSo: () -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while !isSo() {
      try #require(ContinuousClock.now < deadline, "it takes too long")
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  @Test func `more than 64 requests at a time are refused, and the others are served`() async throws
  {
    let store = AppStore(url: try AppDatabase().url)
    let nobody = [AccessKey?](repeating: nil, count: 100)
    let (served, refused) = try await ask(store, as: nobody, untilRefused: 37)
    #expect(served == [nil: 63] && refused == 37)
  }

  @Test func `a client has a quarter of the places, and the others have the rest`() async throws {
    let store = AppStore(url: try AppDatabase().url, pendingMax: 8)
    let (one, other) = (AccessKey.user(1), AccessKey.address([192, 0, 2, 1]))
    let (served, refused) = try await ask(
      store, as: [one, one, one, other, other], untilRefused: 1)
    #expect(served == [one: 2, other: 2] && refused == 1)
    try await AccessKey.$current.withValue(one) { try await store.run { _ in } }
  }

  @Test func `a request that takes long stops no other where there are several connections`()
    async throws
  {
    let store = AppStore(url: try AppDatabase().url, connections: 2)
    let (hasBegun, go) = (Locked(false), DispatchSemaphore(value: 0))
    defer { go.signal() }
    let long = Task {
      try await store.run { _ in
        hasBegun.withLock { $0 = true }
        go.wait()
      }
    }
    try await wait { hasBegun.withLock { $0 } }
    for number in 0..<3 { #expect(try await store.run { _ in number } == number) }
    go.signal()
    try await long.value
  }

  @Test func `a connection that could not be opened gets no request while there is another`()
    async throws
  {
    let database = try StoreDatabase()
    let start = ContinuousClock.now
    let store = AppStore(
      url: database.url(role: DatabaseRole.app), connections: 2, now: { start })
    let ask: @Sendable (AppConnection) throws(AppStoreError) -> Bool = { _ in true }
    await #expect(throws: AppStoreError.self) { try await store.run(ask) }
    try AppSchema.file.apply(url: database.url)
    for _ in 0..<3 { #expect(try await store.run(ask)) }
  }

  @Test func `a database that refused is tried again after a second, not before`() async throws {
    let database = try StoreDatabase()
    let clock = Locked(ContinuousClock.now)
    let store = AppStore(
      url: database.url(role: DatabaseRole.app), now: { clock.withLock { $0 } })
    let ask: @Sendable (AppConnection) throws(AppStoreError) -> Bool = { _ in true }
    await #expect(throws: AppStoreError.self) { try await store.run(ask) }
    try AppSchema.file.apply(url: database.url)
    clock.withLock { $0 += .milliseconds(999) }
    await #expect(throws: AppStoreError.self) { try await store.run(ask) }
    clock.withLock { $0 += .milliseconds(1) }
    #expect(try await store.run(ask))
  }
}
