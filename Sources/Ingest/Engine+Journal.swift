import Journal
import Logging
import Market
import Platform

/// The engine's side of the journal: entries go in whatever the disk does, and old segments go
/// out.
///
/// A journal that takes nothing must not stop anybody from asking: what cannot be recorded is
/// dropped, nothing is made of it, and the next answer that is recorded shows the hole as a gap,
/// like any outage. Before anything is dropped for want of space, segments the store has taken are
/// deleted, whatever retention allows: recording goes before history.

/// How often the journal is held to its limits, elapsed seconds; also whenever a segment begins.
private let tidySecondsMax: Int64 = 60

/// The pause between two lines about a journal that was healed and lost nothing, elapsed seconds.
private let healingLogSecondsMin: Int64 = 60

/// A small entry may find room where others do not: that writing works again is logged once
/// it has refused none for so long, elapsed ms of the simulation where there is one.
private let mendedMillisecondsMin: Int64 = 60_000

/// What the engine remembers of its journal.
struct JournalMaintenance {
  var tidiedAt: Timestamp?
  var segmentsBegun = 0
  var healedTimes = 0
  var healingLoggedAt: Timestamp?
  /// The last refusal since it last took all entries, and what was logged of them.
  var refusedAt: Timestamp?
  var loggedFaults = Once<JournalError.Code>()
  /// That room is made is said once a day.
  var deletionLoggedOn: TradingDay?
}

/// How the journal stands, and what it could not keep.
package struct JournalAccount: Sendable {
  /// The position up to which its entries are rows.
  package var committed = JournalPosition.start
  package var fault: JournalError.Code?
  /// Every refusal since the start, those of the same kind in a row included.
  package var faults: [JournalError.Code: Int] = [:]
  /// Answers it could not take: what they held is a gap.
  package var responsesDropped = 0
  /// How much of it is over its limit because the store has not taken it.
  package var bytesOver: Int64 = 0
  package var isUntidy = false
  /// Segments deleted before their time because the disk was full.
  package var segmentsDeletedForRoom = 0
  /// Failed syncs healed, and entries that none could bring back.
  package var healings = 0
  package var entriesLost = 0

  mutating func committed(through position: JournalPosition) {
    committed = max(committed, position)
  }

  mutating func refused(_ entry: JournalEntry, code: JournalError.Code) {
    fault = code
    faults[code, default: 0] += 1
    if entry.kind == .response { responsesDropped += 1 }
  }
}

extension Engine {
  /// nil if the journal cannot take it; then nothing may be made of it either.
  func append(_ entry: JournalEntry) -> JournalPosition? {
    do throws(JournalError) {
      let position = try parts.journal.append(
        entry, makingRoomUpTo: status.journal.committed, deleted: reportDeletion)
      status.journal.fault = nil
      reportRecovery()
      reportHealing()
      return position
    } catch {
      if maintenance.loggedFaults.isNew(error.code) {
        parts.log.critical("cannot write to the journal", metadata: ["error": "\(error)"])
      }
      maintenance.refusedAt = time.steady
      status.journal.refused(entry, code: error.code)
      return nil
    }
  }

  private func reportRecovery() {
    guard let refusedAt = maintenance.refusedAt,
      time.steady
        >= refusedAt.adding(milliseconds: mendedMillisecondsMin / Int64(parts.clock.speed))
    else { return }
    parts.log.notice("writing to the journal works again")
    (maintenance.refusedAt, maintenance.loggedFaults) = (nil, Once())
  }

  private func reportDeletion(of segment: JournalSegment) {
    status.journal.segmentsDeletedForRoom += 1
    let today = now.shanghaiDay
    if maintenance.deletionLoggedOn != today {
      parts.log.error(
        "disk full, deleting old segments of the journal", metadata: ["first": "\(segment.name)"])
    }
    maintenance.deletionLoggedOn = today
  }

  private func reportHealing() {
    let healing = parts.journal.healing
    guard healing.times != maintenance.healedTimes else { return }
    maintenance.healedTimes = healing.times
    status.journal.healings = healing.times
    let hasLost = status.journal.entriesLost != Int(healing.lost)
    status.journal.entriesLost = Int(healing.lost)
    // A disk that fails each sync is healed each time; losses are logged at once.
    let isDue =
      maintenance.healingLoggedAt.map { time.steady >= $0.adding(seconds: healingLogSecondsMin) }
      ?? true
    guard isDue || hasLost else { return }
    maintenance.healingLoggedAt = time.steady
    parts.log.error(
      "repaired the journal",
      metadata: ["rewritten": "\(healing.rewritten)", "lost": "\(healing.lost)"])
  }

  /// Holds the journal to its limits with every turn of the loop: they hold within a segment,
  /// whatever the day brings.
  func maintainJournal() {
    let steady = time.steady
    let isDue = maintenance.tidiedAt.map { steady >= $0.adding(seconds: tidySecondsMax) } ?? true
    guard isDue || maintenance.segmentsBegun != parts.journal.segmentsBegun else { return }
    maintenance.tidiedAt = steady
    maintenance.segmentsBegun = parts.journal.segmentsBegun
    tidyJournal()
  }

  private func tidyJournal() {
    do throws(JournalError) {
      let retention = try parts.journal.retain(
        committed: status.journal.committed, bytesMax: limits.journalBytesMax,
        daysMax: limits.journalDaysMax, today: pipeline.knownAt.shanghaiDay)
      record(retention)
      status.journal.isUntidy = false
    } catch {
      if !status.journal.isUntidy {
        parts.log.error(
          "cannot delete old segments of the journal", metadata: ["error": "\(error)"])
      }
      status.journal.isUntidy = true
    }
  }

  private func record(_ retention: JournalRetention) {
    if !retention.deleted.isEmpty {
      parts.log.info(
        "deleted old segments of the journal", metadata: ["segments": "\(retention.deleted.count)"])
    }
    // The segment being written may always be there.
    let over = max(0, retention.bytesOver - retention.bytesWriting)
    if (over > 0) != (status.journal.bytesOver > 0) {
      parts.log.warning(
        over > 0
          ? "the journal exceeds its size limit: the database has not stored its entries yet"
          : "the journal is within its size limit again", metadata: ["bytes": "\(retention.bytes)"])
    }
    status.journal.bytesOver = over
  }
}
