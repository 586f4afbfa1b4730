import AppStore
import Foundation
import Operations
import Platform

/// What of a request says who makes it and from where: taken from the head, before anything else is
/// looked at.
package struct AccessRequest: Sendable {
  /// `Authorization`.
  package var authorization: String?
  /// `APCA-API-SECRET-KEY`, where clients of another API put their secret.
  package var secretKey: String?
  /// `?ticket=` of a WebSocket.
  package var ticket: String?
  /// `Origin`.
  package var origin: String?
  /// `Host`.
  package var host: String?
  /// Path and query.
  package var target: String
  /// Numeric address of the connection's other end; nil on a Unix socket.
  package var peer: String?
  /// `X-Forwarded-For`, all of them joined by commas.
  package var forwardedFor: String?
  /// `OPTIONS` with `Access-Control-Request-Method`.
  package var isPreflight = false
  /// An upgrade, or a method that changes something: a foreign page gets no answer at all.
  package var isGuarded = false

  package init(target: String, peer: String? = nil) {
    self.target = target
    self.peer = peer
  }
}

/// What becomes of it.
package struct AccessVerdict: Sendable {
  package enum Outcome: Sendable, Hashable {
    case admitted(Principal)
    case refused(Problem)
    /// Answered 204, with what the page may do if it is listed, and nothing else happens.
    case preflight(isListed: Bool)
  }

  package var outcome: Outcome
  /// For the answer, whatever it is.
  package var headers: [(name: String, value: String)]
  /// Whose bucket pays.
  package let key: AccessKey
  package let address: ClientAddress
}

/// The door of the gateway: every request passes here first. It knows tokens, tickets, limits and
/// origins, and nothing of the market. Its state is in memory and bounded.
package final class AccessControl: Sendable {
  package struct Options: Sendable {
    package var anonymous: Bool
    /// A second; 0 is no limit.
    package var userRequests: Int
    package var addressRequests: Int
    /// That it is sent without a token.
    package var addressBytes: Int
    package var trustedProxies: [AddressRange]
    package var origins: [String]
    package var hosts: [String]

    package init(
      anonymous: Bool = false, userRequests: Int = 0, addressRequests: Int = 0,
      addressBytes: Int = 0,
      trustedProxies: [AddressRange] = [], origins: [String] = [], hosts: [String] = []
    ) {
      self.anonymous = anonymous
      self.userRequests = userRequests
      self.addressRequests = addressRequests
      self.addressBytes = addressBytes
      self.trustedProxies = trustedProxies
      self.origins = origins
      self.hosts = hosts
    }

    package init(_ settings: Settings) {
      self.init(
        anonymous: settings[GatewaySettings.anonymous],
        userRequests: settings[GatewaySettings.userRequests],
        addressRequests: settings[GatewaySettings.addressRequests],
        addressBytes: settings[GatewaySettings.addressBytes],
        trustedProxies: settings[GatewaySettings.trustedProxies],
        origins: settings[GatewaySettings.origins],
        hosts: settings[GatewaySettings.hosts])
    }
  }

  private struct State: Sendable {
    var buckets: CostBuckets
    var tickets = TicketBox()
  }

  package let options: Options
  package let directory: TokenDirectory
  package let rule: OriginRule
  private let state: Locked<State>
  private let now: @Sendable () -> Int64

  /// What a 401 or a 404 costs more than an answer: who guesses tokens or paths is slowed down to a
  /// tenth.
  static let failureCost = 9

  /// - Parameter now: microseconds of a clock that never jumps.
  package init(
    _ options: Options, directory: TokenDirectory,
    now: @escaping @Sendable () -> Int64 = { MonotonicClock.microseconds() }
  ) {
    self.options = options
    self.directory = directory
    self.now = now
    rule = OriginRule(origins: options.origins, hosts: options.hosts)
    state = Locked(State(buckets: CostBuckets(options)))
  }

  // MARK: Requests

  /// - Parameter cost: of its route, with its arguments.
  package func admit(_ request: AccessRequest, cost: Int = 1) -> AccessVerdict {
    let address = ClientAddress(
      peer: request.peer, forwardedFor: request.forwardedFor, trusting: options.trustedProxies)
    let origin = rule.verdict(origin: request.origin, host: request.host)
    var verdict = AccessVerdict(
      outcome: .preflight(isListed: false), headers: rule.headers(for: origin),
      key: .address(address.bytes), address: address)
    if origin == .misdirected {
      verdict.outcome = .refused(.misdirected)
      return paid(verdict, cost: cost)
    }
    if request.isPreflight {
      if case .listed = origin { verdict.outcome = .preflight(isListed: true) }
      return paid(verdict, cost: cost)
    }
    let caller = Result { () throws(Problem) in try principal(of: request) }
    if case .success(.token(let identity)) = caller {
      verdict = AccessVerdict(
        outcome: .admitted(.token(identity)), headers: verdict.headers,
        key: .user(identity.userID), address: address)
    } else if case .failure(let problem) = caller {
      verdict.outcome = .refused(problem)
    } else {
      verdict.outcome = .admitted(.anonymous)
    }
    if origin == .foreign, request.isGuarded {
      verdict.outcome = .refused(.foreignOrigin)
    }
    return paid(verdict, cost: cost)
  }

  private func paid(_ verdict: AccessVerdict, cost: Int) -> AccessVerdict {
    var verdict = verdict
    let payment = take(cost, from: verdict.key)
    verdict.headers += payment.headers
    if let problem = payment.problem { verdict.outcome = .refused(problem) }
    return verdict
  }

  func take(_ cost: Int, from client: AccessKey) -> CostBuckets.Payment {
    let now = now()
    return state.withLock { $0.buckets.take(cost, from: client, at: now) }
  }

  /// To be called with each answer's status, failures cost more, and its bytes.
  package func finished(_ verdict: AccessVerdict, status: Int, bytes: Int = 0) {
    draw(bytes, by: verdict.key)
    guard status == 401 || status == 404 else { return }
    let now = now()
    state.withLock { $0.buckets.charge(Self.failureCost, to: verdict.key, at: now) }
  }

  /// - Returns: for how many milliseconds the client may be sent nothing more.
  @discardableResult
  package func draw(_ bytes: Int, by client: AccessKey) -> Int64 {
    guard bytes > 0, options.addressBytes > 0, case .address = client else { return 0 }
    let now = now()
    return state.withLock { ($0.buckets.draw(bytes, by: client, at: now) + 999) / 1_000 }
  }

  // MARK: Who

  /// Whether a token stands in an address, spelled with percent signs or without.
  package static func holdsToken(_ target: String) -> Bool {
    if contains(token: target.utf8) { return true }
    guard target.utf8.contains(UInt8(ascii: "%")) else { return false }
    return target.removingPercentEncoding.map { contains(token: $0.utf8) } ?? false
  }

  private static func contains(token text: String.UTF8View) -> Bool {
    let prefix = TokenSecret.prefix.utf8
    var rest = text[...]
    while let start = rest.firstIndex(where: { $0 == prefix.first }) {
      rest = rest[start...]
      if rest.starts(with: prefix) { return true }
      rest = rest.dropFirst()
    }
    return false
  }

  private func principal(of request: AccessRequest) throws(Problem) -> Principal {
    if Self.holdsToken(request.target) { throw .tokenInAddress }
    if let ticket = request.ticket {
      let now = now()
      guard let identity = state.withLock({ $0.tickets.redeem(ticket, at: now) }),
        let current = directory.identity(ofToken: identity.tokenID)
      else { throw .invalidToken }
      return .token(current)
    }
    if let authorization = request.authorization {
      let words = authorization.split(separator: " ", omittingEmptySubsequences: true)
      guard words.count == 2, words[0].lowercased() == "bearer" else { throw .unauthenticated }
      return try principal(ofSecret: words[1])
    }
    if let secret = request.secretKey {
      // Clients of other APIs cannot be without a secret: where none is needed, any will do.
      if options.anonymous, !secret.hasPrefix(TokenSecret.prefix) { return .anonymous }
      return try principal(ofSecret: secret)
    }
    return .anonymous
  }

  /// Of a token that came in a header or in a message.
  /// - Throws: 401; 503 while no token could be read since the start.
  package func principal(
    ofSecret secret: some StringProtocol
  ) throws(Problem) -> Principal {
    guard let identity = directory.identity(of: secret) else {
      throw directory.isLoaded ? .invalidToken : .storeAway
    }
    return .token(identity)
  }

  /// - Throws: 401 without a token, 429.
  package func ticket(for principal: Principal) throws(Problem) -> String {
    guard case .token(let identity) = principal else { throw .unauthenticated }
    let now = now()
    let made = state.withLock { state in
      Result { () throws(Problem) in
        var generator = SystemRandomNumberGenerator()
        return try state.tickets.make(for: identity, at: now, using: &generator)
      }
    }
    return try made.get()
  }
}
