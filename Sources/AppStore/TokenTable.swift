import Market
import Postgres

/// Tokens in the database: made, listed, revoked, and read whole by every gateway.
package struct TokenTable: AppTable {
  let connection: AppConnection
  static let context = "tokens"

  /// In force at a time. A gateway keeps them all: 100,000 are some 15 MB.
  package static let tokensMax = 100_000

  package init(_ connection: AppConnection) { self.connection = connection }

  private static let count = Statement(
    name: "count_tokens",
    sql: """
      select count(*)
      from token
      where revoked_at is null
        and coalesce(expires_at > now(), true)
      """)

  /// The update writes nothing new; it makes `returning` see the row that is there.
  private static let makeUser = Statement(
    name: "make_user",
    sql: """
      insert into app_user (name)
      values ($1::text)
      on conflict (name) do update
      set name = excluded.name
      returning id
      """)

  private static let insert = Statement(
    name: "insert_token",
    sql: """
      insert into token (user_id, name, scopes, hash, expires_at)
      values ($1::bigint, $2::text, $3::text[], $4::bytea, $5::timestamptz)
      returning id, created_at
      """)

  /// Makes a token, and its user where there is none of that name. The secret is the caller's to
  /// show, once.
  /// - Throws: `limitReached`, `invalid`, `store`.
  package func create(
    _ secret: TokenSecret, user: String, name: String, scopes: Set<TokenScope>,
    expiresAt: Timestamp? = nil
  ) throws(AppStoreError) -> Token {
    for (field, value) in [("name", name), ("user", user)] {
      guard (1...64).contains(value.utf8.count), !value.utf8.contains(where: { $0 < 0x20 }) else {
        throw .invalid(field: field, expected: "1 to 64 bytes without control characters")
      }
    }
    if scopes.isEmpty { throw .invalid(field: "scopes", expected: "at least one") }
    return try connection.inTransaction(Self.context) { () throws(AppStoreError) in
      let inForce = try numbers(Self.count)
      if inForce.first ?? 0 >= Self.tokensMax {
        throw .limitReached("there are \(Self.tokensMax) tokens in force: revoke some")
      }
      let userID = try only(
        try numbers(Self.makeUser, with: [.text(user)]))
      let parameters: [WireParameter] = [
        .int64(userID), .text(name), .texts(scopes.map(\.rawValue).sorted()),
        .bytes(secret.digest.bytes), .timestamp(expiresAt),
      ]
      return try only(
        try read(Self.insert, with: parameters) { (row) throws(StoreError) in
          Token(
            id: try row.int64(), userID: userID, user: user, name: name, scopes: scopes,
            createdAt: try row.timestamp(), expiresAt: expiresAt)
        })
    }
  }

  private static let columns = """
    t.id, t.user_id, u.name, t.name, array_to_string(t.scopes, ' '), t.created_at, t.expires_at,
    t.last_used_day, t.revoked_at
    """

  private static let listAll = Statement(
    name: "list_tokens",
    sql: """
      select \(columns)
      from token t
      join app_user u on u.id = t.user_id
      order by t.id
      """)

  /// All there ever were, oldest first.
  package func list() throws(AppStoreError) -> [Token] {
    try read(Self.listAll) { (row) throws(StoreError) in try row.token() }
  }

  private static let load = Statement(
    name: "load_tokens",
    sql: """
      select t.hash, \(columns)
      from token t
      join app_user u on u.id = t.user_id
      where t.revoked_at is null
        and coalesce(t.expires_at > now(), true)
      order by t.id
      limit \(tokensMax)
      """)

  /// Those in force, by their digests.
  package func inForce() throws(AppStoreError) -> [TokenDigest: Token] {
    let rows = try read(Self.load) { (row) throws(StoreError) -> (TokenDigest, Token) in
      guard let digest = TokenDigest(bytes: try row.bytes()) else { throw row.malformed() }
      return (digest, try row.token())
    }
    return Dictionary(rows, uniquingKeysWith: { first, _ in first })
  }

  private static let revoke = Statement(
    name: "revoke_token",
    sql: """
      update token
      set revoked_at = coalesce(revoked_at, now())
      where id = $1::bigint
      """)

  /// Every gateway refuses it from then on; once more changes nothing.
  /// - Throws: `unknown`, `store`.
  package func revoke(_ id: Int64) throws(AppStoreError) {
    let rows = try write(Self.revoke, with: [.int64(id)])
    if rows == 0 { throw .unknown(.token, id) }
  }

  private static let use = Statement(
    name: "use_tokens",
    sql: """
      update token
      set last_used_day = $2::date
      where id = any ($1::bigint[])
        and coalesce(last_used_day < $2::date, true)
      """)

  /// Notes that they were used on a day.
  package func use(_ ids: Set<Int64>, on day: TradingDay) throws(AppStoreError) {
    if ids.isEmpty { return }
    try write(Self.use, with: [.int64s(ids.sorted()), .day(day)])
  }

  private func only<Value>(_ values: [Value]) throws(AppStoreError) -> Value {
    guard let value = values.first else {
      throw .store(
        StoreError(.malformed, message: "a statement returned no row", context: Self.context))
    }
    return value
  }
}

extension PostgresRow {
  fileprivate mutating func token() throws(StoreError) -> Token {
    Token(
      id: try int64(), userID: try int64(), user: try text(), name: try text(),
      scopes: Set(try text().split(separator: " ").compactMap { TokenScope(rawValue: String($0)) }),
      createdAt: try timestamp(), expiresAt: try optionalTimestamp(),
      lastUsedDay: try optionalDay(), revokedAt: try optionalTimestamp())
  }
}
