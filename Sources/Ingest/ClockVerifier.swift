import Market

/// Decides which time of day is right.
///
/// A wall clock that is set in mid-session would close minutes that have not been, refuse quotes
/// as stamped in the future, or take today for a holiday; one that was wrong and is put right must
/// be followed. The rule: *time runs on the steady clock, and only what somebody proves moves it.*
///
/// - The wall clock creeps (less than two seconds from ours): it is followed.
/// - It jumps: our time goes on without it until a response of the exchange shows which is right,
///   by the date its server gives it; at night one is requested. If the date is nearer to ours, the
///   jump is refused, and an alarm says that the machine's clock is wrong. If no response comes,
///   the jump is adopted after `doubtSeconds`: somebody may have put a wrong clock right.
/// - Dates of the exchange that agree with each other and not with us correct us, also where both
///   of our clocks are wrong. Until one agreed with us, an answer that contradicts us is not even
///   taken: its receive time would be a lie in the journal.
/// - A machine may come up with a wrong clock and be put right seconds later. Until an answer
///   agreed with us, or `doubtSeconds` passed without one, nothing is decided by our time alone:
///   timers carried out at the wrong hour would be the day's.
///
/// Only dates of answers that came promptly count: one that waited while the process was stopped
/// has an old time. A pure value; it never asks a clock itself.
struct ClockVerifier: Sendable {
  enum Decision: Sendable, Hashable {
    case unchanged
    /// The wall clock jumped, by so many µs; nobody knows yet what to make of it.
    case doubted(Int64)
    /// It is at one with us again.
    case agreed
    /// Our time moved with it, by so many µs.
    case adopted(Int64)
    /// The exchange says it is wrong, by so many µs.
    case refused(Int64)
    /// The exchange moved our time, by so many µs.
    case corrected(Int64)
  }

  private struct Contradiction: Sendable {
    var offset: Int64
    var since: Timestamp
    var count = 1
  }

  /// Our time less the steady clock, µs.
  private(set) var offset: Int64
  /// Whether a response of the exchange has agreed with us since the wall clock was last trusted.
  private(set) var isProven = false
  /// When it began, on the steady clock.
  private let beganAt: Timestamp
  /// A jump under suspicion: the wall clock's offset, and since when.
  private var doubt: (wall: Int64, since: Timestamp)?
  /// The wall clock's offset that the exchange contradicted.
  private var refused: Int64?
  private var contradiction: Contradiction?

  /// A larger difference is no discipline but a setting of the clock; of a smaller one a date of
  /// one second's resolution prove nothing.
  static let jumpMicrosecondsMin: Int64 = 2_000_000
  /// Five slots of the poller: whoever is asked at all has answered by then.
  static let doubtSeconds: Int64 = 15
  /// A server's clock may be wrong too; by more than this it is evidence against ours.
  static let dateToleranceMicroseconds: Int64 = 300 * 1_000_000
  /// Two dates of one second's resolution that were under way for some seconds agree within this.
  static let agreementMicroseconds: Int64 = 10 * 1_000_000
  /// The longest time from request to response that proves a date: it may be of any moment between.
  static let promptMicrosecondsMax: Int64 = 5 * 1_000_000
  /// Proven time is only corrected by dates that kept contradicting it for so long: one node of a
  /// network with a wrong clock does not.
  static let contradictionSecondsMin: Int64 = 10

  init(offset: Int64, beganAt: Timestamp) {
    self.offset = offset
    self.beganAt = beganAt
  }

  /// Whether something may be decided by our time alone.
  func isTrusted(at steady: Timestamp) -> Bool {
    isProven || (doubt == nil && steady >= trustedFrom)
  }

  /// When our time is trusted though nobody confirmed it.
  var trustedFrom: Timestamp { beganAt.adding(seconds: Self.doubtSeconds) }

  /// When a jump that nobody judged is adopted.
  var doubtEndsAt: Timestamp? { doubt?.since.adding(seconds: Self.doubtSeconds) }

  /// The wall clock is known to be wrong, and ours goes on without it.
  var isWallRefused: Bool { refused != nil }

  /// A look at the wall clock.
  mutating func looked(wall: Timestamp, steady: Timestamp) -> Decision {
    let seen = wall.microseconds(since: steady)
    if abs(seen - offset) < Self.jumpMicrosecondsMin {
      let wasApart = doubt != nil || refused != nil
      (offset, doubt, refused) = (seen, nil, nil)
      return wasApart ? .agreed : .unchanged
    }
    if let known = refused {
      // It is disciplined as little as ever, but has not been set again.
      guard abs(seen - known) >= Self.jumpMicrosecondsMin else {
        refused = seen
        return .unchanged
      }
      refused = nil
    }
    guard let doubt, abs(seen - doubt.wall) < Self.jumpMicrosecondsMin else {
      doubt = (seen, steady)
      return .doubted(seen - offset)
    }
    guard let end = doubtEndsAt, steady >= end else { return .unchanged }
    return adopt(seen)
  }

  /// An answer of the exchange.
  /// - Parameter date: as its server gives it; nil if it does not.
  /// - Returns: what follows, and whether the answer may be taken at our time.
  mutating func answered(
    date: Timestamp?, askedSteady: Timestamp, steady: Timestamp
  ) -> (decision: Decision, isTakeable: Bool) {
    guard let date, steady.microseconds(since: askedSteady) <= Self.promptMicrosecondsMax else {
      return (.unchanged, true)
    }
    // A date is cut to its second.
    let dateOffset = date.adding(milliseconds: 500).microseconds(since: steady)
    if let doubt {
      let (ours, theirs) = (abs(dateOffset - offset), abs(dateOffset - doubt.wall))
      if min(ours, theirs) <= Self.dateToleranceMicroseconds {
        contradiction = nil
        return (theirs < ours ? adopt(doubt.wall, isProven: true) : refuse(doubt.wall), true)
      }
    } else if abs(dateOffset - offset) <= Self.dateToleranceMicroseconds {
      contradiction = nil
      isProven = true
      return (.unchanged, true)
    }
    return contradicted(by: dateOffset, steady: steady)
  }

  private mutating func contradicted(
    by dateOffset: Int64, steady: Timestamp
  ) -> (decision: Decision, isTakeable: Bool) {
    guard var seen = contradiction, abs(seen.offset - dateOffset) <= Self.agreementMicroseconds
    else {
      contradiction = Contradiction(offset: dateOffset, since: steady)
      return (.unchanged, isProven)
    }
    seen.count += 1
    contradiction = seen
    let isLong = steady >= seen.since.adding(seconds: Self.contradictionSecondsMin)
    guard !isProven || isLong else { return (.unchanged, true) }
    let moved = dateOffset - offset
    let wall = doubt?.wall ?? refused ?? offset
    contradiction = nil
    if abs(wall - dateOffset) <= Self.dateToleranceMicroseconds {
      return (adopt(wall, isProven: true), true)
    }
    (offset, refused, doubt, isProven) = (dateOffset, wall, nil, true)
    return (.corrected(moved), true)
  }

  private mutating func adopt(_ wall: Int64, isProven: Bool = false) -> Decision {
    let moved = wall - offset
    (offset, doubt, refused) = (wall, nil, nil)
    self.isProven = isProven
    return .adopted(moved)
  }

  private mutating func refuse(_ wall: Int64) -> Decision {
    (doubt, refused) = (nil, wall)
    isProven = true
    return .refused(wall - offset)
  }
}
