import Feeds
import Glibc
import Market

@testable import Ingest
@testable import Journal

/// What tests of workers look for in an engine.
extension Engine {
  /// The workers that a reload did not make anew at once.
  func workersLeftOld(by new: EngineUpdate) -> Set<String> {
    update(new)
    return workers.toReopen
  }

  /// What a worker is told of an answer that only the journal remembers.
  func responseWhileJournalOnly(
    _ entry: JournalEntry, to feedRequest: FeedRequest
  ) -> WorkerResponse {
    interpretation.isJournalOnly = true
    return interpret(entry, of: feedRequest).0
  }

  var calendar: TradingCalendar { pipeline.calendar }

  func learn(_ calendar: TradingCalendar) { pipeline.calendar = calendar }

  /// Requests for history before and after a catch-up that found a dividend of `symbol`.
  func historyRequests(catchingUpOn symbol: Symbol) throws -> [Int] {
    let requests = {
      self.workers.slots.last { $0.worker.name == "history" }?.account.requests ?? 0
    }
    openWorkers()
    let before = requests()
    interpretation.catchUp = try JournalReader(directory: parts.journalDirectory)
    workers.keep([.exRights([symbol], isSupposed: false)])
    try interpretBacklog()
    return [before, requests()]
  }

  /// From now on the disk is full.
  func breakJournal() {
    parts.journal.systemWrite = { _, _, _ in
      errno = ENOSPC
      return -1
    }
  }
}
