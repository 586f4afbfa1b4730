/// What clients may still take: of each user and each address a bucket of requests, from which a
/// request takes its cost, and of each address one of the bytes that it is sent without a token.

import AppStore

struct CostBuckets: Sendable {
  private var users: RateLimiter<AccessKey>?
  private var addresses: RateLimiter<AccessKey>?
  /// In units of `bytesOfUnit`.
  private var bytes: RateLimiter<AccessKey>?
  private static let bytesOfUnit = 1_024

  init(_ options: AccessControl.Options) {
    users = Self.limiter(options.userRequests)
    addresses = Self.limiter(options.addressRequests)
    let rate = options.addressBytes
    bytes = Self.limiter(rate > 0 ? max(rate / Self.bytesOfUnit, 1) : 0)
  }

  /// - Parameter ratePerSecond: 0: there is no limit.
  private static func limiter(_ ratePerSecond: Int) -> RateLimiter<AccessKey>? {
    ratePerSecond > 0 ? RateLimiter(ratePerSecond: ratePerSecond) : nil
  }

  struct Payment: Sendable {
    /// nil where there was enough.
    var problem: Problem?
    /// What is said of the bucket; nothing where there is none.
    var headers: [(name: String, value: String)] = []
  }

  /// - Parameter now: microseconds of a clock that never jumps.
  mutating func take(_ cost: Int, from client: AccessKey, at now: Int64) -> Payment {
    var verdict: RateLimiter<AccessKey>.Verdict?
    var payment = Payment()
    switch client {
    case .user:
      verdict = users?.request(from: client, cost: cost, at: now)
      payment.headers = verdict.flatMap { users?.headers(of: $0) } ?? []
    case .address:
      verdict = addresses?.request(from: client, cost: cost, at: now)
      payment.headers = verdict.flatMap { addresses?.headers(of: $0) } ?? []
      if verdict?.isAdmitted ?? true {
        verdict = bytes?.request(from: client, cost: 0, at: now)
      }
    }
    if let verdict, !verdict.isAdmitted {
      payment.problem = .tooManyRequests(
        retryAfterSeconds: Int(verdict.waitMicroseconds / 1_000_000) + 1)
    }
    return payment
  }

  /// For what turned out dearer.
  mutating func charge(_ cost: Int, to client: AccessKey, at now: Int64) {
    switch client {
    case .user: users?.charge(client, cost: cost, at: now)
    case .address: addresses?.charge(client, cost: cost, at: now)
    }
  }

  /// Of an address: what it was sent.
  /// - Returns: microseconds until it may be sent more.
  mutating func draw(_ count: Int, by client: AccessKey, at now: Int64) -> Int64 {
    let units = (count + Self.bytesOfUnit - 1) / Self.bytesOfUnit
    bytes?.charge(client, cost: units, at: now)
    guard let verdict = bytes?.request(from: client, cost: 0, at: now), !verdict.isAdmitted
    else { return 0 }
    return verdict.waitMicroseconds
  }
}
