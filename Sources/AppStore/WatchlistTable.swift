import Market
import Postgres

/// Watchlists of one user in the database. Changes of one user wait for each other, so that places
/// are counted from 0 without gaps, however many devices write at once.
package struct WatchlistTable: AppTable, NumberedTable {
  let connection: AppConnection
  private let userID: Int64
  static let context = "watchlists"

  /// As the schema's checks have it.
  package static let listsMax = 100
  package static let symbolsMax = 1_000
  package static let nameCharactersMax = 64

  package init(_ connection: AppConnection, userID: Int64) {
    self.connection = connection
    self.userID = userID
  }

  private static let readAll = Statement(
    name: "read_watchlists",
    sql: """
      select w.id, w.name, w.created_at, w.updated_at, i.symbol, i.low, i.high
      from watchlist w
      left join watchlist_item i on i.watchlist_id = w.id
      where w.user_id = $1::bigint
        and ($2::bigint is null or w.id = $2::bigint)
      order by w.position, i.position
      """)

  /// All of the user, in order.
  package func all() throws(AppStoreError) -> [Watchlist] { try lists(nil) }

  /// - Throws: `unknown`, `store`.
  package func one(_ id: Int64) throws(AppStoreError) -> Watchlist {
    guard let found = try lists(id).first else { throw .unknown(.watchlist, id) }
    return found
  }

  private func lists(_ id: Int64?) throws(AppStoreError) -> [Watchlist] {
    var lists: [Watchlist] = []
    let rows = try read(Self.readAll, with: [.int64(userID), .int64(id)]) {
      (row) throws(StoreError) in
      (
        id: try row.int64(), name: try row.text(), createdAt: try row.timestamp(),
        updatedAt: try row.timestamp(), symbol: try row.optionalText(),
        triggers: PriceTriggers(low: try row.optionalNumeric(), high: try row.optionalNumeric())
      )
    }
    for row in rows {
      if lists.last?.id != row.id {
        lists.append(
          Watchlist(
            id: row.id, name: row.name, createdAt: row.createdAt, updatedAt: row.updatedAt))
      }
      guard let symbol = row.symbol.flatMap({ Symbol($0) }) else { continue }
      let item = WatchlistItem(symbol: symbol, triggers: row.triggers)
      lists[lists.count - 1].items.append(item)
    }
    return lists
  }

  // MARK: Lists

  private static let insert = Statement(
    name: "insert_watchlist",
    sql: """
      insert into watchlist (user_id, position, name)
      select $1::bigint, count(*), $2::text
      from watchlist
      where user_id = $1::bigint
      returning id
      """)

  /// Makes one, behind the others.
  /// - Parameter entries: what is in it, in order.
  /// - Throws: `nameTaken`, `limitReached`, `invalid`, `store`.
  package func create(
    named name: String, with entries: [WatchlistEntry] = []
  ) throws(AppStoreError) -> Watchlist {
    try requireName(name, charactersMax: Self.nameCharactersMax)
    try validate(entries)
    return try changing { () throws(AppStoreError) in
      let list = try one(try insert(named: name))
      if entries.isEmpty { return list }
      try fill(list, with: entries)
      return try one(list.id)
    }
  }

  private func insert(named name: String) throws(AppStoreError) -> Int64 {
    do throws(AppStoreError) {
      return try numbers(Self.insert, with: [.int64(userID), .text(name)]).first ?? 0
    } catch {
      throw named(error, name: name)
    }
  }

  private static let rename = Statement(
    name: "rename_watchlist",
    sql: """
      update watchlist
      set
        name = $3::text,
        updated_at = clock_timestamp()
      where user_id = $1::bigint
        and id = $2::bigint
      """)

  /// - Throws: `unknown`, `nameTaken`, `invalid`, `store`.
  package func rename(_ id: Int64, to name: String) throws(AppStoreError) {
    try requireName(name, charactersMax: Self.nameCharactersMax)
    do throws(AppStoreError) {
      let rows = try write(Self.rename, with: place(of: id) + [.text(name)])
      if rows == 0 { throw .unknown(.watchlist, id) }
    } catch {
      throw named(error, name: name)
    }
  }

  /// Renames one and makes `entries` all that is in it, both or neither.
  /// - Parameters:
  ///   - name: nil: it keeps its name.
  ///   - entries: nil: it keeps its symbols.
  /// - Throws: `unknown`, `nameTaken`, `limitReached`, `invalid`, `store`.
  package func update(
    _ id: Int64, name: String?, entries: [WatchlistEntry]?
  ) throws(AppStoreError) {
    try validate(entries ?? [])
    try changing(id) { (list) throws(AppStoreError) in
      if let name { try rename(id, to: name) }
      if let entries { try fill(list, with: entries) }
    }
  }

  private static let delete = Statement(
    name: "delete_watchlist",
    sql: """
      with gone as (
        delete from watchlist
        where user_id = $1::bigint
          and id = $2::bigint
        returning position
      )
      update watchlist
      set position = position - 1
      where user_id = $1::bigint
        and position > (select position from gone)
      """)

  /// With its items; one that is not there is no fault.
  package func delete(_ id: Int64) throws(AppStoreError) {
    try changing { () throws(AppStoreError) in
      try write(Self.delete, with: place(of: id))
    }
  }

  // MARK: Symbols

  /// Of a symbol that is there the place is not used: a full list must not refuse it.
  private static let upsert = Statement(
    name: "put_watchlist_item",
    sql: """
      insert into watchlist_item (watchlist_id, position, symbol, low, high)
      select $1::bigint, least(count(*), 999), $2::text, $3::numeric, $4::numeric
      from watchlist_item
      where watchlist_id = $1::bigint
      on conflict (watchlist_id, symbol) do update
      set
        low = excluded.low,
        high = excluded.high
      """)

  /// Adds a symbol at the end, or changes the triggers of one that is there.
  /// - Throws: `unknown`, `limitReached`, `invalid`, `store`.
  package func put(_ item: WatchlistItem, in id: Int64) throws(AppStoreError) {
    try item.triggers.validate()
    try changing(id) { (list) throws(AppStoreError) in try put(item, in: list) }
  }

  /// Adds a symbol at the end; one that is there stays as it is.
  /// - Throws: `unknown`, `limitReached`, `store`.
  package func add(_ symbol: Symbol, to id: Int64) throws(AppStoreError) {
    try changing(id) { (list) throws(AppStoreError) in
      if list.contains(symbol) { return }
      try put(WatchlistItem(symbol: symbol), in: list)
    }
  }

  private func put(_ item: WatchlistItem, in list: Watchlist) throws(AppStoreError) {
    if !list.contains(item.symbol), list.items.count >= Self.symbolsMax {
      throw Self.tooManySymbols
    }
    try write(
      Self.upsert,
      with: [
        .int64(list.id), .text(item.symbol.description), .numeric(item.triggers.low),
        .numeric(item.triggers.high),
      ])
    try touch(list.id)
  }

  private static let remove = Statement(
    name: "remove_watchlist_item",
    sql: """
      with gone as (
        delete from watchlist_item
        where watchlist_id = $1::bigint
          and symbol = $2::text
        returning position
      )
      update watchlist_item
      set position = position - 1
      where watchlist_id = $1::bigint
        and position > (select position from gone)
      """)

  /// A symbol that is not there is no fault.
  /// - Throws: `unknown`, `store`.
  package func remove(_ symbol: Symbol, from id: Int64) throws(AppStoreError) {
    try changing(id) { (list) throws(AppStoreError) in
      guard list.contains(symbol) else { return }
      try write(Self.remove, with: [.int64(id), .text(symbol.description)])
      try touch(id)
    }
  }

  private static let clear = Statement(
    name: "clear_watchlist",
    sql: """
      delete from watchlist_item
      where watchlist_id = $1::bigint
      """)

  /// From text: an array of decimals cannot hold nulls here, and a JSON number could lose its scale
  /// on the way.
  private static let fill = Statement(
    name: "fill_watchlist",
    sql: """
      insert into watchlist_item (watchlist_id, position, symbol, low, high)
      select
        $1::bigint, place - 1, symbol,
        nullif(low, '')::numeric, nullif(high, '')::numeric
      from unnest($2::text[], $3::text[], $4::text[]) with ordinality
        as item (symbol, low, high, place)
      """)

  /// Makes these, in this order, all that is in the list: it adds, removes and reorders.
  /// - Throws: `unknown`, `limitReached`, `invalid`, `store`.
  package func replaceItems(
    of id: Int64, with entries: [WatchlistEntry]
  ) throws(AppStoreError) -> Watchlist {
    try validate(entries)
    return try changing(id) { (list) throws(AppStoreError) in
      try fill(list, with: entries)
      return try one(id)
    }
  }

  private func fill(
    _ list: Watchlist, with entries: [WatchlistEntry]
  ) throws(AppStoreError) {
    let before = Dictionary(uniqueKeysWithValues: list.items.map { ($0.symbol, $0.triggers) })
    let items = entries.map { entry in
      WatchlistItem(
        symbol: entry.symbol, triggers: entry.triggers ?? before[entry.symbol] ?? PriceTriggers())
    }
    try write(Self.clear, with: [.int64(list.id)])
    try write(
      Self.fill,
      with: [
        .int64(list.id), .texts(items.map(\.symbol.description)),
        .texts(items.map { $0.triggers.low.text }), .texts(items.map { $0.triggers.high.text }),
      ])
    try touch(list.id)
  }

  // MARK: What every change begins with, and ends with

  private static let touchOne = Statement(
    name: "touch_watchlist",
    sql: """
      update watchlist
      set updated_at = clock_timestamp()
      where user_id = $1::bigint
        and id = $2::bigint
      """)

  private func touch(_ id: Int64) throws(AppStoreError) {
    try write(Self.touchOne, with: place(of: id))
  }

  @discardableResult
  private func changing<Value>(
    _ body: () throws(AppStoreError) -> Value
  ) throws(AppStoreError) -> Value {
    try connection.inTransaction(ofUser: userID, Self.context, body: body)
  }

  private func changing<Value>(
    _ id: Int64, body: (Watchlist) throws(AppStoreError) -> Value
  ) throws(AppStoreError) -> Value {
    try changing { () throws(AppStoreError) in try body(try one(id)) }
  }

  private func place(of id: Int64) -> [WireParameter] { [.int64(userID), .int64(id)] }

  private func validate(_ entries: [WatchlistEntry]) throws(AppStoreError) {
    if entries.count > Self.symbolsMax { throw Self.tooManySymbols }
    guard Set(entries.map(\.symbol)).count == entries.count else {
      throw .invalid(field: "symbols", expected: "each symbol once")
    }
    for entry in entries { try entry.triggers?.validate() }
  }

  private static let tooManySymbols = AppStoreError.limitReached(
    "more than \(symbolsMax) symbols in a watchlist")

  private func named(_ error: AppStoreError, name: String) -> AppStoreError {
    if error.isViolation(of: "watchlist_name_is_new") { return .nameTaken(name) }
    if error.isViolation(of: "watchlists_are_few") {
      return .limitReached("more than \(Self.listsMax) watchlists")
    }
    return error
  }
}
