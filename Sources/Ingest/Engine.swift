import Candles
import Commits
import Journal
import Logging
import Market
import Operations
import Platform

/// The loop that joins the stages: request, journal, interpret, commit.
///
/// It decides nothing about markets, schedules or rows: workers say what to request and when, the
/// pipeline what an answer means, the store what a commit is. The engine owns the order: an
/// answer is in the journal before anything is made of it, and there is one commit at a time. All
/// of its waiting is in one place, so it can be driven by a clock, a 60× clock, or none.
package actor Engine {
  var parts: EngineParts
  var limits: EngineLimits
  var pipeline: Pipeline
  var workers: WorkerSet
  let events: AsyncStream<Event>
  let inbox: AsyncStream<Event>.Continuation
  var time: EngineTime
  var waiting = EngineWaiting()
  var interpretation = Interpretation()
  var maintenance = JournalMaintenance()
  var commitState = CommitState()
  var loggedDrops = Once<String>()
  package internal(set) var status = EngineStatus()

  enum Event: Sendable {
    case answered(WorkerRequest, UpstreamResponse, WorkerSet.WorkerID, asked: Timestamp)
    /// nil for a look round that nobody slept for.
    case woke(for: Timestamp?)
    case saved(Result<CommitReceipt, StoreError>)
    case loaded(Result<StoredState, StoreError>)
    case pruned(Result<Int64, StoreError>)
    case repairsFound(Int, Result<[RepairCandidate], StoreError>)
    case leadershipLost(StoreError)
    case stop
  }

  /// The journal is handed over whole: the engine alone appends to it.
  /// - Parameter isJournalOnly: there is no store to begin with.
  package init(
    parts: sending EngineParts, pipeline: sending Pipeline, limits: EngineLimits = EngineLimits(),
    isJournalOnly: Bool = false
  ) {
    self.parts = parts
    self.pipeline = pipeline
    self.pipeline.configure(parts.workers.configuration).log(to: parts.log)
    self.limits = limits
    (events, inbox) = AsyncStream.makeStream(of: Event.self)
    time = EngineTime(parts.clock)
    workers = WorkerSet(
      parts.workers.makeLive(for: self.pipeline),
      failoverMilliseconds: parts.workers.configuration.failoverMilliseconds, at: time.now)
    status.journal.committed = self.pipeline.position
    interpretation.isJournalOnly = isJournalOnly
  }

  /// Runs until `stop()`, or until a simulation's last moment, and then drains.
  /// - Returns: what could not be saved before the drain's deadline.
  /// - Throws: `EngineError` where going on would store something wrong.
  package func run() async throws -> Unsaved {
    do {
      try await runLoop()
    } catch {
      abandon()
      throw error
    }
    try? parts.journal.sync()
    return unsaved
  }

  private func runLoop() async throws {
    if !interpretation.isJournalOnly { try beginCatchUp() }
    var iterator = events.makeAsyncIterator()
    while !isDrained {
      parts.heartbeat?.beat()
      checkClock()
      maintainJournal()
      try interpretBacklog()
      startLive()
      openWorkers()
      reopenWorkers()
      startCommit()
      if isIdle, parts.clock.isStepped {
        step()
      } else {
        scheduleWake()
        guard let event = await iterator.next(isolation: self) else { break }
        try handle(event)
      }
    }
  }

  /// Nobody is asked any more. What was journaled stays there; nothing of it is saved by this one.
  private func abandon() {
    workers.cancelRequests()
    try? parts.journal.sync()
  }

  /// Asks the engine to finish what is under way and return from `run()`.
  package nonisolated func stop() { inbox.yield(.stop) }

  /// Lets `run()` throw `leaseLost` instead of finding out at its next commit.
  package nonisolated func loseLeadership(_ error: StoreError) {
    inbox.yield(.leadershipLost(error))
  }

  /// Elapsed time as the engine counts it. Without a clock this is the simulation's own time,
  /// whatever its wall clock was put through.
  package var steady: Timestamp { time.steady }

  /// The engine's time.
  package var now: Timestamp { time.now }

  private func handle(_ event: Event) throws {
    switch event {
    case .answered(let request, let response, let workerID, let asked):
      handle(response, to: request, of: workerID, asked: asked)
    case .woke(let moment):
      if let moment { waiting.wakes.woke(for: moment) }
      runDue()
    case .saved(let result):
      try finishCommit(result)
    case .loaded(let result):
      try finishLoading(result)
    case .pruned(let result): finishPruning(result)
    case .repairsFound(let place, let result):
      repairsFound(result, for: place)
    case .leadershipLost(let error): throw EngineError(error)
    case .stop:
      beginStopping()
    }
  }
}

/// What an engine is joined from.
package struct EngineParts {
  package var clock: EngineClock
  /// What is requested, and who answers it.
  package var workers: SourceWorkers
  package var store: any CommitSink
  package var journal: JournalWriter
  package var journalDirectory: String
  package var log: Logger
  /// Beats at every turn of the loop; nil for none.
  package var heartbeat: Heartbeat?

  package init(
    clock: EngineClock, workers: SourceWorkers, store: any CommitSink, journal: JournalWriter,
    journalDirectory: String, log: Logger, heartbeat: Heartbeat? = nil
  ) {
    self.clock = clock
    self.workers = workers
    self.store = store
    self.journal = journal
    self.journalDirectory = journalDirectory
    self.log = log
    self.heartbeat = heartbeat
  }
}

/// The engine's bounds.
package struct EngineLimits: Sendable {
  /// A simulation ends here; nil runs until stopped.
  package var stopAt: Timestamp?
  /// How long a commit may wait for the rest of its sweep, ms of real time.
  package var commitDelayMilliseconds: Int64 = 250
  /// How long a stop may take to save what is pending, ms of real time.
  package var drainMilliseconds: Int64 = 8_000
  /// The loop turns at least so often, ms of real time, to show that it does; a stepped clock has
  /// none to wait by.
  package var loopMillisecondsMax: Int64 = 5_000
  /// Candles held for a store that is away; beyond it the journal alone remembers. An hour of the
  /// whole market, about 60 MB.
  package var pendingCandlesMax = 324_000
  /// How much journal is kept behind the store's position, and for how many days.
  package var journalBytesMax: Int64?
  package var journalDaysMax: Int?
  /// Entries interpreted in one go while catching up, so that polling goes on meanwhile.
  package var catchUpEntriesMax = 64
  /// Quotes older than this, in session seconds, are stale: five slots of 3 s.
  package var quotesStaleSecondsMax: Int64 = 15

  package init() {}
}

/// Why an engine gave up. Everything else it survives.
package struct EngineError: Error, Sendable, CustomStringConvertible {
  package enum Code: Sendable {
    /// Another writer moved the store's position, or it was put back.
    case anotherWriter
    /// The journal no longer holds what the store has not seen.
    case journalIncomplete
    /// Another daemon leads: whoever stands by for it may lead again later.
    case leaseLost
    /// What the database keeps of the candle book is not this version's, or damaged.
    case stateUnreadable
  }

  package var code: Code
  package var description: String
}

extension EngineError {
  /// - Parameter lost: what told that the lease is lost.
  init(_ lost: StoreError) {
    self.init(code: .leaseLost, description: lost.message)
  }

  /// - Parameters:
  ///   - table: that holds the damaged `book_state`.
  ///   - row: of which instrument; nil where the table has one row.
  init(_ error: BookStateError, table: String, row: Symbol?) {
    code = .stateUnreadable
    let place = "\(table).book_state" + (row.map { " of \($0)" } ?? "")
    let fault =
      switch error {
      case .corrupt(let field, let expected, let byte):
        "is damaged at byte \(byte): field \(field), expected \(expected)"
      case .unknownVersion(let version): "has version \(version), of another release of candled"
      }
    description =
      "\(place) \(fault). Nothing was changed: start the version that wrote it, restore the "
      + "database, or rebuild one from the journal with candled replay --into"
  }
}
