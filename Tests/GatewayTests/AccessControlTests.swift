import AppStore
import HTTPTypes
import Market
import Operations
import Platform
import TestSupport
import Testing

@testable import Gateway

@Suite struct AccessControlTests {
  private let clock = Locked(Int64(1_000_000))
  private let wallClock = Locked(Timestamp(seconds: 1_000))
  private let directory: TokenDirectory
  private let secret: TokenSecret

  init() {
    directory = TokenDirectory(now: { [wallClock] in wallClock.withLock { $0 } })
    var generator = SystemRandomNumberGenerator()
    secret = TokenSecret(using: &generator)
  }

  private func control(_ options: AccessControl.Options = .init()) -> AccessControl {
    AccessControl(options, directory: directory, now: { [clock] in clock.withLock { $0 } })
  }

  private func letIn(_ scopes: Set<TokenScope> = [.market], expiresAt: Timestamp? = nil) {
    let token = Token(
      id: 7, userID: 3, user: "alice", name: "phone", scopes: scopes,
      createdAt: Timestamp(seconds: 0), expiresAt: expiresAt)
    directory.replace(with: [secret.digest: token])
  }

  private func request(_ bearer: String? = nil, target: String = "/v1/market") -> AccessRequest {
    var request = AccessRequest(target: target, peer: "192.0.2.1")
    request.authorization = bearer.map { "Bearer \($0)" }
    return request
  }

  private var known: AccessRequest { request(secret.reveal()) }
  private let alice = Principal.Identity(tokenID: 7, userID: 3, scopes: [.market])

  @Test func `a token is let in by header, in both of the spellings that clients have`() {
    letIn()
    let control = control()
    #expect(control.admit(known).outcome == .admitted(.token(alice)))
    var other = request()
    other.secretKey = secret.reveal()
    #expect(control.admit(other).outcome == .admitted(.token(alice)))
    other = request()
    other.authorization = "bearer  \(secret.reveal())"
    #expect(control.admit(other).outcome == .admitted(.token(alice)))
    #expect(directory.takeUsed() == [7])
    #expect(directory.takeUsed() == [])
  }

  @Test func `a wrong token is refused also where none is needed`() {
    letIn()
    let control = control(.init(anonymous: true))
    var generator = SystemRandomNumberGenerator()
    let wrong = TokenSecret(using: &generator).reveal()
    for bearer in [wrong, "x", "", secret.reveal() + "x", String(secret.reveal().dropLast())] {
      guard case .refused(let problem) = control.admit(request(bearer)).outcome else {
        Issue.record("let in: \(bearer.count) characters")
        continue
      }
      #expect(problem.status == .unauthorized)
    }
    #expect(control.admit(request()).outcome == .admitted(.anonymous))
  }

  @Test func `a token that was replaced or has expired is refused`() {
    letIn(expiresAt: Timestamp(seconds: 2_000))
    let control = control()
    #expect(control.admit(known).outcome == .admitted(.token(alice)))
    wallClock.withLock { $0 = Timestamp(seconds: 2_000) }
    #expect(control.admit(known).outcome == .refused(.invalidToken))
    wallClock.withLock { $0 = Timestamp(seconds: 1_999) }
    #expect(control.admit(known).outcome == .admitted(.token(alice)))
    directory.replace(with: [:])
    #expect(control.admit(known).outcome == .refused(.invalidToken))
  }

  @Test func `before any token was read a token is not called wrong`() {
    #expect(control().admit(known).outcome == .refused(.storeAway))
  }

  @Test func `scopes are kept apart`() throws {
    let principal = Principal.token(alice)
    #expect(try principal.identity(with: .market) == alice)
    for scope in [TokenScope.account, .trade, .admin] {
      #expect(throws: Problem.forbidden(scope)) { try principal.identity(with: scope) }
    }
    #expect(throws: Problem.unauthenticated) {
      try Principal.anonymous.identity(with: .market)
    }
    try control(.init(anonymous: true)).require(.market, of: .anonymous)
    #expect(throws: Problem.unauthenticated) { try control().require(.market, of: .anonymous) }
  }

  @Test func `a token in an address is refused, in any part of it`() {
    letIn()
    for target in ["/v1/market?token=", "/ws?ticket=", "/", "/v1/stocks/"] {
      let outcome = control().admit(request(target: target + secret.reveal())).outcome
      #expect(outcome == .refused(.tokenInAddress), "\(target)")
    }
  }

  @Test func `a ticket stands for its token, once, and not after it was revoked`() throws {
    letIn()
    let control = control()
    var socket = request(target: "/ws")
    socket.ticket = try control.ticket(for: .token(alice))
    #expect(control.admit(socket).outcome == .admitted(.token(alice)))
    #expect(control.admit(socket).outcome == .refused(.invalidToken))
    socket.ticket = try control.ticket(for: .token(alice))
    directory.replace(with: [:])
    #expect(control.admit(socket).outcome == .refused(.invalidToken))
    #expect(throws: Problem.unauthenticated) { try control.ticket(for: .anonymous) }
  }

  @Test func `users and addresses have buckets of their own`() {
    letIn()
    let control = control(.init(anonymous: true, userRequests: 2, addressRequests: 1))
    for _ in 0..<8 { #expect(control.admit(known).outcome == .admitted(.token(alice))) }
    guard case .refused(let problem) = control.admit(known).outcome else {
      Issue.record("not limited")
      return
    }
    #expect(problem.status.code == 429 && problem.headers[.retryAfter] == "1")
    for _ in 0..<4 { #expect(control.admit(request()).outcome == .admitted(.anonymous)) }
    let verdict = control.admit(request())
    #expect(verdict.headers.contains { $0.name == "RateLimit" && $0.value.contains("r=0") })
    clock.withLock { $0 += 1_000_000 }
    #expect(control.admit(request()).outcome == .admitted(.anonymous))
  }

  @Test func `the tokens of a user share one bucket, and those of another do not`() {
    var generator = SystemRandomNumberGenerator()
    let secrets = (0..<4).map { _ in TokenSecret(using: &generator) }
    let tokens = secrets.enumerated().map { index, secret in
      (
        secret.digest,
        Token(
          id: Int64(index), userID: index < 3 ? 3 : 4, user: "", name: "\(index)",
          scopes: [.market], createdAt: Timestamp(seconds: 0))
      )
    }
    directory.replace(with: Dictionary(uniqueKeysWithValues: tokens))
    let control = control(.init(userRequests: 3))
    func isAdmitted(_ index: Int) -> Bool {
      guard case .admitted = control.admit(request(secrets[index].reveal())).outcome else {
        return false
      }
      return true
    }
    // Four seconds' worth.
    for turn in 0..<12 { #expect(isAdmitted(turn % 3)) }
    #expect(!isAdmitted(0) && !isAdmitted(1) && !isAdmitted(2) && isAdmitted(3))
  }

  @Test func `who collects 401 and 404 is slowed down to a tenth`() {
    letIn()
    let control = control(.init(anonymous: true, addressRequests: 10))
    var answered: Int64 = 0
    for _ in 0..<100_000 {
      let verdict = control.admit(request("cndl_guess"))
      guard case .refused(let problem) = verdict.outcome else { continue }
      if problem.status == .unauthorized { answered += 1 }
      control.finished(verdict, status: problem.status.code)
      clock.withLock { $0 += 1_000 }
    }
    // 100 s: forty at most at once, then one a second.
    #expect((95...145).contains(answered), "\(answered)")
    // A token from the same address has its own bucket.
    #expect(control.admit(known).outcome == .admitted(.token(alice)))
  }

  @Test func `pages of other origins get what is listed and no more`() {
    letIn()
    let control = control(
      .init(origins: ["https://app.example.com"], hosts: ["candled.example.com"]))
    var page = known
    page.host = "candled.example.com"
    page.origin = "https://app.example.com"
    let verdict = control.admit(page)
    #expect(verdict.outcome == .admitted(.token(alice)))
    #expect(
      verdict.headers.contains {
        $0.name == "Access-Control-Allow-Origin" && $0.value == "https://app.example.com"
      })
    page.origin = "https://evil.example.com"
    #expect(control.admit(page).outcome == .admitted(.token(alice)))
    #expect(!control.admit(page).headers.contains { $0.name.hasPrefix("Access-Control") })
    page.isGuarded = true
    #expect(control.admit(page).outcome == .refused(.foreignOrigin))
    for own in ["https://candled.example.com", "http://CANDLED.example.com"] {
      page.origin = own
      #expect(control.admit(page).outcome == .admitted(.token(alice)))
    }
    page.origin = "null"
    #expect(control.admit(page).outcome == .refused(.foreignOrigin))
  }

  @Test func `a preflight is answered only for pages that are listed`() {
    let control = control(.init(origins: ["https://app.example.com"]))
    var page = request()
    page.isPreflight = true
    page.origin = "https://app.example.com"
    let verdict = control.admit(page)
    #expect(verdict.outcome == .preflight(isListed: true))
    #expect(verdict.headers.contains { $0.name == "Access-Control-Allow-Origin" })
    page.origin = "https://evil.example.com"
    #expect(control.admit(page).outcome == .preflight(isListed: false))
    #expect(!control.admit(page).headers.contains { $0.name.hasPrefix("Access-Control") })
  }

  @Test func `no text that is made of a request holds its token`() {
    letIn()
    let digits = secret.reveal().dropFirst(TokenSecret.prefix.count)
    var texts: [String] = []
    for target in ["/v1/market", "/?x=\(secret.reveal())"] {
      for bearer in [secret.reveal(), secret.reveal() + "x"] {
        let verdict = control().admit(request(bearer, target: target))
        var dumped = ""
        dump(verdict, to: &dumped)
        texts += [dumped, "\(verdict.headers)"]
        if case .refused(let problem) = verdict.outcome {
          texts += [String(decoding: problem.json, as: UTF8.self), "\(problem)"]
        }
      }
    }
    #expect(texts.allSatisfy { !$0.contains(digits) })
  }
}
