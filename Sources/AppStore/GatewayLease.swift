import Glibc
import Market
import Postgres

/// What one gateway of all does: a lease, with a term that grows from holder to holder.
///
///     look → (session over, or no beat for 8 s) → term + 1 → beat, beat … → termIsOver
///
/// Who waits counts by its own steady clock how long no beat came: a holder that is frozen keeps
/// its session, and the server's clock may be set. What a holder commits asks for its term first,
/// so that one that wakes commits nothing once another has taken the lease.
package struct GatewayLease: AppTable {
  package enum Role: String, Sendable { case broker, webhooks }

  let connection: AppConnection
  private let role: Role
  /// The newest beat of another holder, and when it was first seen.
  private var seen: (term: Int64, beat: Int64, at: Int64)?
  private var beatAt: Int64 = 0
  /// nil while another gateway has it.
  package private(set) var term: Int64?

  static let context = "lease"
  /// Another gateway executes within 15 s of the last beat: this, two looks, and what it reads.
  package static let silenceMillisecondsMax: Int64 = 8_000
  package static let beatMilliseconds: Int64 = 3_000
  /// Between two looks at another's lease.
  package static let lookMilliseconds: Int32 = 1_000

  /// A holder, for people: the machine's name and the process.
  package static var thisProcess: String {
    var bytes = [CChar](repeating: 0, count: hostBytesMax)
    let isKnown = gethostname(&bytes, bytes.count - 1) == 0
    let host = bytes.prefix { $0 != 0 }.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    return "\(isKnown ? host : "unknown") \(getpid())"
  }

  private static let hostBytesMax = 256

  package init(_ role: Role, over connection: AppConnection) {
    self.role = role
    self.connection = connection
  }

  private static let look = Statement(
    name: "look_at_lease",
    sql: """
      select
        term, coalesce(pg_sequence_last_value((role || '_beat')::regclass), 0),
        exists (select from pg_stat_activity where pid = session)
      from gateway_lease
      where role = $1::text
      """)

  private static let takeOver = Statement(
    name: "take_lease",
    sql: """
      update gateway_lease
      set term = term + 1, holder = $3::text, session = pg_backend_pid()
      where role = $1::text
        and term = $2::bigint
      returning term
      """)

  /// Takes it, unless another has it.
  /// - Parameters:
  ///   - holder: for people.
  ///   - now: of a steady clock, in milliseconds.
  package mutating func take(holder: String, at now: Int64) throws(AppStoreError) -> Bool {
    let found = try read(Self.look, with: [.text(role.rawValue)]) { (row) throws(StoreError) in
      (term: try row.int64(), beat: try row.int64(), isAlive: try row.bool())
    }
    guard let found = found.first else { return false }
    if found.isAlive {
      guard let seen, (seen.term, seen.beat) == (found.term, found.beat) else {
        self.seen = (found.term, found.beat, now)
        return false
      }
      if now - seen.at < Self.silenceMillisecondsMax { return false }
    }
    term = try numbers(
      Self.takeOver, with: [.text(role.rawValue), .int64(found.term), .text(holder)]
    ).first
    (seen, beatAt) = (nil, now)
    return term != nil
  }

  private static func statement(_ name: String, lock: String = "") -> Statement {
    Statement(
      name: name,
      sql: """
        select nextval((role || '_beat')::regclass)
        from gateway_lease
        where role = $1::text
          and term = $2::bigint
        \(lock)
        """)
  }

  private static let alive = statement("beat_of_lease")
  private static let fence = statement("fence_by_lease", lock: "for share")

  private func beat(_ statement: Statement, term: Int64) throws(AppStoreError) {
    let beats = try numbers(statement, with: [.text(role.rawValue), .int64(term)])
    if beats.isEmpty { throw .termIsOver(term) }
  }

  /// Says that the holder is alive, if that is due.
  /// - Throws: `termIsOver` if another has the lease; `store`.
  package mutating func beat(at now: Int64) throws(AppStoreError) {
    guard let term, abs(now - beatAt) >= Self.beatMilliseconds else { return }
    try beat(Self.alive, term: term)
    beatAt = now
  }

  /// Inside of a transaction: no other term begins before its end.
  /// - Throws: `termIsOver` if one has begun; `store`.
  static func fence(
    _ role: Role, term: Int64, over connection: AppConnection
  ) throws(AppStoreError) {
    try Self(role, over: connection).beat(Self.fence, term: term)
  }
}
