import Glibc
import Market
import Platform

/// How often a daemon may knock at its database: at most twice in any second, however many of its
/// sessions lost their connection at once, and however often that happens.
///
/// Each session has a share of its own, one attempt a second, so none waits for another: the writer
/// is back within a second of a server that is, and so is the lease, whose length is seconds. A
/// share counts from the end of the last attempt, not from its beginning: then two of them reach
/// the server a second apart, whatever a busy machine puts between deciding and doing.
///
/// One gate serves one daemon. Commands that connect once need none; neither does the start of the
/// embedded server, which is its own child and not yet at work.
package final class ConnectGate: Sendable {
  /// What a daemon connects for. A third share would need smaller ones: see `turnMicroseconds`.
  package enum Session: CaseIterable, Sendable {
    case writer
    case lease
  }

  /// The most that one daemon may ask of a database that is starting or overloaded.
  static let attemptsPerSecondMax = 2
  /// From the end of a session's attempt to its next.
  static let turnMicroseconds =
    Int64(Session.allCases.count) * 1_000_000 / Int64(attemptsPerSecondMax)

  /// From when on each may connect again, in microseconds of the clock.
  private let free = Locked<[Session: Int64]>([:])
  private let now: @Sendable () -> Int64
  private let pause: @Sendable (Int64) -> Void

  package convenience init() {
    self.init(now: { MonotonicClock.microseconds() }, pause: { usleep(useconds_t($0)) })
  }

  /// - Parameters:
  ///   - now: microseconds of a clock that never jumps.
  ///   - pause: waits for so many microseconds, less than a turn each.
  init(now: @escaping @Sendable () -> Int64, pause: @escaping @Sendable (Int64) -> Void) {
    self.now = now
    self.pause = pause
  }

  /// Waits for the session's turn and connects. Blocks: for a thread of one's own.
  func pass<Connection>(
    _ session: Session, connect: () throws(StoreError) -> Connection
  ) throws(StoreError) -> Connection {
    let turn = book(session)
    while true {
      let wait = turn - now()
      if wait <= 0 { break }
      pause(min(wait, Self.turnMicroseconds - 1))
    }
    defer { attemptEnded(session) }
    return try connect()
  }

  /// A moment nobody else has: two may come at once, when a term follows another.
  private func book(_ session: Session) -> Int64 {
    let now = now()
    return free.withLock { free in
      let turn = max(free[session] ?? now, now)
      free[session] = turn + Self.turnMicroseconds
      return turn
    }
  }

  private func attemptEnded(_ session: Session) {
    let next = now() + Self.turnMicroseconds
    free.withLock { $0[session] = max($0[session] ?? next, next) }
  }
}

extension ConnectGate? {
  /// Whoever has no gate connects at once.
  package func pass<Connection>(
    _ session: ConnectGate.Session, connect: () throws(StoreError) -> Connection
  ) throws(StoreError) -> Connection {
    guard let gate = self else { return try connect() }
    return try gate.pass(session, connect: connect)
  }
}
