import Candles
import Commits
import Feeds
import Journal
import Logging
import Market

/// Interpretation that lags behind the journal: after a restart, and after the store was away for
/// longer than memory holds. Both are the same work: take up the stored state and read on.
struct Interpretation {
  /// Reads what is not interpreted yet; nil once that is all.
  var catchUp: JournalReader?
  /// The store was away for longer than memory holds: the journal alone goes on.
  var isJournalOnly = false
}

extension Engine {
  /// Reads on a little; polling goes on between two calls.
  func interpretBacklog() throws {
    guard let reader = interpretation.catchUp, !isBehindStore else { return }
    for _ in 0..<limits.catchUpEntriesMax {
      guard let (position, entry) = try nextEntry(reader) else {
        interpretation.catchUp = nil
        if workers.areOpen {
          followTail()
          deliver(workers.takeKept())
        }
        return
      }
      let digest = pipeline.process(entry, at: position)
      workers.quoted(entry.source, through: digest.newestAt)
      report(digest, isReplayed: true)
      workers.keep(digest.found)
    }
  }

  /// Where the journal is damaged its answers are lost like those of an outage, and are accounted
  /// for like one: by the gap the next answer shows.
  private func nextEntry(
    _ reader: JournalReader
  ) throws -> (position: JournalPosition, entry: JournalEntry)? {
    while true {
      do throws(JournalError) {
        return try reader.next()
      } catch {
        guard error.code == .damaged || error.code == .missing else { throw error }
        parts.log.critical(
          "part of the journal is unreadable, its responses are lost",
          metadata: ["error": "\(error)"])
      }
      guard try reader.skipDamage() != nil else { return nil }
    }
  }

  /// A list of a whole market comes in 70 pages, 20 a minute.
  private static let listSecondsMax: Int64 = 900

  /// Gathers again what came of lists in pages before the stored position.
  private func recallLists() throws(JournalError) {
    let directory = parts.journalDirectory
    let stored = pipeline.position
    var first: JournalPosition?
    try JournalReader.heads(
      in: directory, since: pipeline.knownAt.adding(seconds: -Self.listSecondsMax)
    ) { head in
      if first == nil, head.position <= stored, head.isOfListPage { first = head.position }
    }
    guard let first else { return }
    let reader = try JournalReader(
      directory: directory, after: JournalPosition(first.sequence - 1))
    while let (position, entry) = try reader.next(), position <= stored { pipeline.recall(entry) }
  }

  /// Takes up reading where the store stands.
  func beginCatchUp() throws {
    guard parts.journal.lastPosition > pipeline.position else { return }
    // What is damaged there is reported by who reads on.
    try? recallLists()
    do throws(JournalError) {
      interpretation.catchUp = try JournalReader(
        directory: parts.journalDirectory, after: pipeline.position)
    } catch {
      throw EngineError(
        code: .journalIncomplete,
        description:
          "the database stands at journal entry \(pipeline.position.sequence): \(error) If it was "
          + "restored from an older backup, move the journal's folder away: candled then begins a "
          + "new journal there, and the time between counts as an outage")
    }
  }

  /// Memory is full and the store is away: drop what the journal still has.
  func forgetInterpretation() {
    parts.log.error("no commits for too long, from now on responses are kept in the journal only")
    interpretation = Interpretation(catchUp: nil, isJournalOnly: true)
    commitState.commit = nil
    commitState.staleHealth.formUnion(workers.slots.indices)
    var empty = Pipeline(rules: pipeline.rules, limits: pipeline.universe.limits)
    empty.pending.counters = pipeline.counters
    // Polling goes by these, and a reload may ask for them before the store is back.
    empty.universe = pipeline.universe
    empty.calendar = pipeline.calendar
    pipeline = empty
  }

  /// The store's state has come: either it shows that a commit whose answer was lost was carried
  /// out, or it is what an engine starts over from that kept the journal only.
  func finishLoading(_ result: Result<StoredState, StoreError>) throws {
    commitState.isBusy = false
    switch result {
    case .failure(let error) where error.code == .leaseLost:
      throw EngineError(error)
    case .failure(let error):
      postpone(error)
    case .success(let stored) where interpretation.isJournalOnly:
      interpretation.isJournalOnly = false
      status.journal.committed(through: stored.position)
      let counters = pipeline.counters
      pipeline = try Pipeline(
        rules: pipeline.rules, limits: pipeline.universe.limits, stored: stored)
      pipeline.pending.counters = counters
      pipeline.configure(parts.workers.configuration).log(to: parts.log)
      try beginCatchUp()
      saved()
    case .success(let stored):
      guard let commit = commitState.commit, stored.position == commit.position else {
        let reason =
          stored.position < status.journal.committed
          ? "and stood at \(status.journal.committed.sequence) before: it was restored from a "
            + "backup or failed over to a replica that lags; the next start continues from there"
          : "which this daemon did not write: another daemon uses the same database"
        throw EngineError(
          code: .anotherWriter,
          description: "the database stands at journal entry \(stored.position.sequence), \(reason)"
        )
      }
      saved()
    }
  }
}

extension JournalHead {
  /// The answer to a request for a page of a list, or for how many rows it has.
  fileprivate var isOfListPage: Bool {
    guard kind == .response, let definition = SourceRegistry.known(source),
      let lists = definition.lists, lists.pageRows != nil
    else { return false }
    return lists.parts.contains { part in
      [.listCount(part), .listPage(part, page: 1)].contains { (query: FeedQuery) in
        definition.request(for: query, from: source)?.journalKey == key
      }
    }
  }
}

extension Pipeline {
  /// The class of an answer and its newest stamp, without taking anything from it.
  static func classify(_ entry: JournalEntry, rules: CandleRules) -> Digest {
    var decoder = SourceRegistry.quotes(of: entry.source).makeDecoder(
      entry.receivedAt.shanghaiDay)
    var quoteBatch = QuoteBatch()
    return entry.body.withUnsafeBytes { body in
      quoteBatch.begin(body: body)
      var outcome = decoder.decode(body, status: Int(entry.status), into: &quoteBatch)
      if case .ok = outcome, quoteBatch.isInOtherUnits { outcome = .malformed }
      var digest = Digest(.quotes(outcome))
      if case .ok = outcome {
        digest.newestAt = quoteBatch.newestStamp(
          receivedAt: entry.receivedAt, clockSkewSecondsMax: rules.clockSkewSecondsMax,
          ofTrading: true)
      }
      return digest
    }
  }
}
