import Alerts
import AppStore
import HTTPTypes
import Market
import Reader

/// What belongs to a user: tickets, preferences, watchlists. Each is a plain function of a request;
/// `UserRoutes+Table` makes routes of them.
package struct UserRoutes: Sendable {
  let control: AccessControl
  let store: AppStore
  let webhookRule: WebhookRule
  let market: @Sendable () -> InstrumentDirectory

  /// The series that any spelling means; nil of an instrument that is not known.
  func series(_ spelling: String) -> AlertSubject? {
    let directory = market()
    return directory.place(spelling: spelling).map {
      AlertSubject(symbol: directory[$0].symbol, source: directory[$0].sourceName)
    }
  }

  private func resolve(_ spelling: String) -> Symbol? { series(spelling)?.symbol }

  var sourceNames: [String] { market().sourceNames }

  // MARK: Tickets and preferences

  func makeTicket(_ request: UserRequest) throws(Problem) -> Answer {
    let ticket = try control.ticket(for: .token(request.identity))
    return .own(.created) { object in
      object.member("ticket") { $0.string(ticket) }
      object.member("expiresInSeconds") { $0.integer(Int64(TicketBox.lifeSeconds)) }
    }
  }

  func preferences(_ request: UserRequest) async throws(Problem) -> Answer {
    let value = try await run(request, over: PreferenceTable.self) {
      (table) throws(AppStoreError) in try table.value()
    }
    return Answer(json: Array(value.utf8), caching: "no-store")
  }

  func changePreferences(
    _ request: UserRequest, merging: Bool
  ) async throws(Problem) -> Answer {
    guard let json = String(validating: request.arguments.body, as: UTF8.self) else {
      throw .unstorable("body", expected: "JSON in UTF-8")
    }
    try await run(request, over: PreferenceTable.self) { (table) throws(AppStoreError) in
      try table.write(json, merging: merging)
    }
    return .done
  }

  // MARK: Watchlists

  func makeWatchlist(_ request: UserRequest) async throws(Problem) -> Answer {
    let name = try request.body(NameBody.self).name
    let list = try await change(request) { (table) throws(AppStoreError) in
      try table.create(named: name)
    }
    return .own(
      list, as: Watchlist.shape, status: .created, location: "/v1/watchlists/\(list.id)")
  }

  func renameWatchlist(_ request: UserRequest) async throws(Problem) -> Answer {
    let (id, name) = (request.id, try request.body(NameBody.self).name)
    try await change(request) { (table) throws(AppStoreError) in try table.rename(id, to: name) }
    return .done
  }

  func replaceSymbols(_ request: UserRequest) async throws(Problem) -> Answer {
    let id = request.id
    var (entries, unlisted): ([WatchlistEntry], [Symbol]) = ([], [])
    for entry in try request.body(SymbolsBody.self).symbols {
      let listed = resolve(entry.symbol)
      // 404 would mean that there is no such list.
      guard let symbol = listed ?? Symbol(anySpelling: entry.symbol) else {
        throw unknown(.conflict, found: entry.symbol)
      }
      if listed == nil { unlisted.append(symbol) }
      entries.append(WatchlistEntry(symbol: symbol, triggers: try entry.triggers?.value()))
    }
    if !unlisted.isEmpty {
      // What was listed once stays in a list until its user takes it out.
      let kept = try await change(request) { (table) throws(AppStoreError) in
        try table.one(id).items.map(\.symbol)
      }
      if let symbol = unlisted.first(where: { !kept.contains($0) }) {
        throw unknown(.conflict, found: symbol.description)
      }
    }
    guard Set(entries.map(\.symbol)).count == entries.count else {
      throw Problem(
        .unprocessableContent, code: "symbol_twice", title: "a symbol is in the list twice")
    }
    let order = entries
    let list = try await change(request) { (table) throws(AppStoreError) in
      try table.replaceItems(of: id, with: order)
    }
    return .own(list, as: Watchlist.shape)
  }

  func putSymbol(_ request: UserRequest) async throws(Problem) -> Answer {
    let id = request.id
    let symbol = try symbol(request.arguments["symbol"] ?? "")
    let triggers = try request.body(TriggersBody.self).value()
    try await change(request) { (table) throws(AppStoreError) in
      try table.put(WatchlistItem(symbol: symbol, triggers: triggers), in: id)
    }
    return .done
  }

  /// Also of a symbol that is not known any more.
  func removeSymbol(_ request: UserRequest) async throws(Problem) -> Answer {
    let id = request.id
    let text = request.arguments["symbol"] ?? ""
    guard let symbol = resolve(text) ?? Symbol(anySpelling: text) else { throw unknown() }
    try await change(request) { (table) throws(AppStoreError) in try table.remove(symbol, from: id)
    }
    return .done
  }

  // MARK: Shared

  /// Over the user's own rows.
  @discardableResult
  func run<Table: UserTable, Value: Sendable>(
    _ request: UserRequest, over type: Table.Type,
    _ body: @Sendable (Table) throws(AppStoreError) -> Value
  ) async throws(Problem) -> Value {
    let user = request.identity.userID
    return try await run { (connection) throws(AppStoreError) in
      try body(Table(connection, userID: user))
    }
  }

  @discardableResult
  private func change<Value: Sendable>(
    _ request: UserRequest, _ body: @Sendable (WatchlistTable) throws(AppStoreError) -> Value
  ) async throws(Problem) -> Value {
    try await run(request, over: WatchlistTable.self, body)
  }

  @discardableResult
  func run<Value: Sendable>(
    _ body: @Sendable (AppConnection) throws(AppStoreError) -> Value
  ) async throws(Problem) -> Value {
    do throws(AppStoreError) {
      return try await store.run(body)
    } catch {
      throw Problem(error)
    }
  }

  private func symbol(_ text: String) throws(Problem) -> Symbol {
    guard let symbol = resolve(text) else { throw unknown() }
    return symbol
  }

  /// What is longer than any symbol may be a secret at a wrong place: it is not sent back.
  private static let symbolBytesMax = 20

  func unknown(_ status: HTTPResponse.Status = .notFound, found symbol: String? = nil) -> Problem {
    Problem(
      status, code: "unknown_symbol", title: "there is no such symbol",
      faults: symbol.map {
        let found = $0.utf8.count > Self.symbolBytesMax ? "another value" : $0
        return [Problem.Fault(field: "symbol", expected: "one that is listed", found: found)]
      } ?? [])
  }
}

// MARK: - Bodies

private struct NameBody: Decodable {
  var name: String
}

/// Prices are strings, so that no digit is lost on the way.
struct TriggersBody: Decodable {
  var low: String?
  var high: String?

  static let schema = Schema.object([
    .init("low", .nullable(.matching(.price)), isRequired: false),
    .init("high", .nullable(.matching(.price)), isRequired: false),
  ])

  func value() throws(Problem) -> PriceTriggers {
    let triggers = PriceTriggers(low: try price(low, of: "low"), high: try price(high, of: "high"))
    if let low = triggers.low, let high = triggers.high, low > high {
      throw Problem(
        .unprocessableContent, code: "triggers_cross",
        title: "low is above high, so no price is between them")
    }
    return triggers
  }

  private func price(_ text: String?, of field: String) throws(Problem) -> ExactDecimal? {
    guard let text else { return nil }
    do {
      return try ExactDecimal(text)
    } catch {
      throw .unstorable(field, expected: "a decimal number in a string such as \"1769.040\"")
    }
  }
}

private struct SymbolsBody: Decodable {
  struct Entry: Decodable {
    var symbol: String
    /// nil of a bare symbol.
    var triggers: TriggersBody?

    private enum CodingKeys: String, CodingKey { case symbol }

    init(from decoder: any Decoder) throws {
      if let symbol = try? decoder.singleValueContainer().decode(String.self) {
        self.symbol = symbol
        return
      }
      symbol = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .symbol)
      triggers = try TriggersBody(from: decoder)
    }
  }

  var symbols: [Entry]
}

extension Watchlist {
  static let shape = Shape<Watchlist>(
    "Watchlist",
    fields: [
      .string("id") { String($0.id) }, .string("name") { $0.name },
      .objects("symbols", as: WatchlistItem.shape) { $0.items },
    ])
}

extension WatchlistItem {
  fileprivate static let shape = Shape<WatchlistItem>(
    fields: [
      .string("symbol") { $0.symbol.description },
      .decimal("low") { $0.triggers.low ?? .zero }.present { $0.triggers.low != nil },
      .decimal("high") { $0.triggers.high ?? .zero }.present { $0.triggers.high != nil },
    ])
}
