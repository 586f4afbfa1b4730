/// One-time tickets for WebSockets of browsers, which cannot set headers: made by
/// `POST /v1/tickets` with a token, shown once in `?ticket=`, gone after 30 s. A ticket stands in
/// an address, so it is worth nothing afterwards.
package struct TicketBox: Sendable {
  private struct Entry: Sendable {
    var identity: Principal.Identity
    var expiresAt: Int64
  }

  private var entries: [String: Entry] = [:]
  /// In the order in which they expire.
  private var order: ArraySlice<(ticket: String, expiresAt: Int64)> = []

  package static let lifeSeconds = 30
  private static let lifeMicroseconds = Int64(lifeSeconds) * 1_000_000
  /// 10,000 reconnecting browsers, and as many again.
  package static let ticketsMax = 20_000
  /// 160 bits.
  private static let characterCount = 27
  private static let characters = Array(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")

  package init() {}

  package var count: Int { entries.count }

  /// - Parameters:
  ///   - now: microseconds of a clock that never jumps.
  ///   - generator: must be fit for secrets.
  /// - Throws: 429 where there are as many as there may be.
  package mutating func make(
    for identity: Principal.Identity, at now: Int64,
    using generator: inout some RandomNumberGenerator
  ) throws(Problem) -> String {
    forgetExpired(at: now)
    guard entries.count < Self.ticketsMax else {
      throw .tooManyRequests(retryAfterSeconds: Self.lifeSeconds)
    }
    var ticket = ""
    for _ in 0..<Self.characterCount {
      let place = Int.random(in: 0..<Self.characters.count, using: &generator)
      ticket.append(Self.characters[place])
    }
    let expiresAt = now + Self.lifeMicroseconds
    entries[ticket] = Entry(identity: identity, expiresAt: expiresAt)
    order.append((ticket, expiresAt))
    return ticket
  }

  /// Whose it is; nil of one that was used, has expired, or never was.
  package mutating func redeem(_ ticket: String, at now: Int64) -> Principal.Identity? {
    forgetExpired(at: now)
    return entries.removeValue(forKey: ticket)?.identity
  }

  private mutating func forgetExpired(at now: Int64) {
    while let first = order.first, first.expiresAt <= now {
      entries.removeValue(forKey: first.ticket)
      order.removeFirst()
    }
    // Used ones stay in `order` until they would have expired: no more than are made in that time.
    if order.count > 2 * Self.ticketsMax {
      order = ArraySlice(order.filter { entries[$0.ticket] != nil })
    }
  }
}
