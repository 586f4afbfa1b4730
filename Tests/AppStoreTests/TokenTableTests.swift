import AppStore
import Glibc
import Market
import Postgres
import TestSupport
import TestTraits
import Testing

@Suite(.ownThread) struct TokenTableTests {
  private func made(
    _ tokens: TokenTable, name: String = "phone", scopes: Set<TokenScope> = [.market],
    expiresAt: Timestamp? = nil
  ) throws -> (secret: TokenSecret, token: Token) {
    var generator = SystemRandomNumberGenerator()
    let secret = TokenSecret(using: &generator)
    let token = try tokens.create(
      secret, user: "alice", name: name, scopes: scopes, expiresAt: expiresAt)
    return (secret, token)
  }

  @Test func `a token is found by its digest, and only its digest is stored`() throws {
    let database = try AppDatabase()
    let tokens = TokenTable(try database.connection())
    let (secret, token) = try made(tokens, scopes: [.market, .account])
    #expect(try tokens.inForce() == [secret.digest: token])
    #expect(try tokens.list() == [token])
    let digits = secret.reveal().dropFirst(TokenSecret.prefix.count)
    let rows = try database.store.execute("select t::text from candled_app.token t")
    #expect(rows.count == 1 && !"\(rows)".contains(digits))
    let theirs = try database.store.value(
      "select sha256('\(secret.reveal())'::bytea) = hash from candled_app.token")
    #expect(theirs == "t")
  }

  @Test func `two tokens of one name are of one user`() throws {
    let database = try AppDatabase()
    let tokens = TokenTable(try database.connection())
    let (first, second) = (try made(tokens).token, try made(tokens, name: "laptop").token)
    #expect(first.userID == second.userID && first.id != second.id)
  }

  @Test func `a revoked or expired one is not in force, and stays in the list`() throws {
    let database = try AppDatabase()
    let tokens = TokenTable(try database.connection())
    let (_, first) = try made(tokens)
    _ = try made(tokens, expiresAt: Timestamp(seconds: 1_000_000_000))
    let (kept, _) = try made(tokens, expiresAt: Timestamp(seconds: 4_000_000_000))
    try tokens.revoke(first.id)
    let at = try tokens.list().first?.revokedAt
    try tokens.revoke(first.id)
    let later = try tokens.list().first?.revokedAt
    #expect(at != nil && later == at)
    #expect(try Array(tokens.inForce().keys) == [kept.digest])
    #expect(try tokens.list().count == 3)
    #expect(throws: AppStoreError.unknown(.token, 99)) { try tokens.revoke(99) }
  }

  @Test(arguments: ["", "a\nb", String(repeating: "x", count: 65)])
  func `a name that people cannot read is refused`(_ name: String) throws {
    let tokens = TokenTable(try AppDatabase().connection())
    #expect(
      throws: AppStoreError.invalid(
        field: "name", expected: "1 to 64 bytes without control characters")
    ) { try made(tokens, name: name) }
    #expect(throws: AppStoreError.self) { try made(tokens, scopes: []) }
  }

  @Test func `making and revoking are notified, using is not`() throws {
    let database = try AppDatabase()
    let listener = try database.connection()
    try listener.listen(to: [.token])
    let tokens = TokenTable(try database.connection())
    var pipe: [Int32] = [0, 0]
    #expect(Glibc.pipe(&pipe) == 0)
    defer { for end in pipe { close(end) } }
    let (_, token) = try made(tokens)
    #expect(try listener.wait(milliseconds: 5_000, interrupt: pipe[0]) == .notification)
    let day = TradingDay(daysSince1970: 20_000)
    try tokens.use([token.id], on: day)
    #expect(try tokens.list().first?.lastUsedDay == day)
    #expect(try listener.wait(milliseconds: 50, interrupt: pipe[0]) == .timeout)
    try tokens.use([token.id], on: TradingDay(daysSince1970: 19_999))
    #expect(try tokens.list().first?.lastUsedDay == day)
    try tokens.revoke(token.id)
    #expect(try listener.wait(milliseconds: 5_000, interrupt: pipe[0]) == .notification)
    #expect(write(pipe[1], "x", 1) == 1)
    #expect(try listener.wait(milliseconds: 5_000, interrupt: pipe[0]) == .interrupted)
  }
}
