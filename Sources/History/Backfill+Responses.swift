import Commits
import Feeds
import Ingest
import Journal
import Logging
import Market
import Polling
import Store

/// The responses of a backfill: journaled, cut to the days wanted, and stored once the task they
/// belong to has all of them.
extension Backfill {
  func handle(
    _ response: UpstreamResponse, to feedRequest: FeedRequest, requestedAt: Timestamp,
    at now: Timestamp
  ) throws -> WorkerResponse {
    guard case .response(let status, let body, _, _) = response else {
      return WorkerResponse()
    }
    let entry = JournalEntry.response(
      to: feedRequest, requestedAt: requestedAt, receivedAt: max(now, requestedAt), status: status,
      body: body)
    try parts.journal.append(entry)
    var workerResponse = WorkerResponse(
      response: Pipeline.feedResponse(entry, calendar: parts.calendar))
    workerResponse.retryAfterSeconds = response.retryAfterSeconds(at: now)
    return workerResponse
  }

  func advance(
    _ feedRequest: FeedRequest, by workerResponse: WorkerResponse, at now: Timestamp
  ) async throws {
    guard let place = owners[feedRequest], var open = tasks[place] else { return }
    var next: FeedRequest?
    switch workerResponse.response {
    case .candles(let page):
      report(page, of: feedRequest)
      open.bars += BarBatch.batches(
        of: page, to: feedRequest, days: open.task.days, rules: parts.rules,
        calendar: parts.calendar,
        receivedAt: now)
      next = try nextPage(page, of: feedRequest)
    case .factors(let factors):
      open.factors.append(FactorBatch(source: feedRequest.source, factors: factors))
    case .refused(let refusal) where isResponse(refusal, to: feedRequest): break
    default: return
    }
    owners[feedRequest] = nil
    if let next {
      owners[next] = place
      perform(queue.received(.enqueued([PacedJob(next, priority: 1)]), at: now))
    } else {
      open.left -= 1
    }
    tasks[place] = open
    if open.left == 0 { try await store(open, place: place, at: now) }
  }

  /// An instrument without bars is done too, and so is one without a file of factors: nothing says
  /// that indexes, bonds and B shares have one.
  private func isResponse(_ refusal: FeedRefusal, to feedRequest: FeedRequest) -> Bool {
    guard case .factors = feedRequest.query else { return refusal.kind == .noData }
    return refusal.kind == .noData || refusal.kind == .notFound
  }

  /// A chunk is done without them: requested again, they would be the same.
  private func report(_ page: CandlePage, of feedRequest: FeedRequest) {
    if let dropped = page.dropped.first {
      parts.log.warning(
        "members of rows dropped",
        metadata: [
          "request": "\(feedRequest.text)", "members": "\(page.dropped.count)",
          "first": "\(dropped.member.rawValue): \(dropped.detail)",
        ])
    }
    guard let first = page.refused.first else { return }
    parts.log.warning(
      "rows refused",
      metadata: [
        "request": "\(feedRequest.text)", "rows": "\(page.refused.count)",
        "first": "\(first.reason.rawValue): \(first.detail)",
      ])
  }

  private func nextPage(_ page: CandlePage, of feedRequest: FeedRequest) throws -> FeedRequest? {
    guard case .bars(var query) = feedRequest.query else { return nil }
    var walk = walks.removeValue(forKey: feedRequest) ?? PageWalk(query, from: feedRequest.source)
    let rows = page.candles.count + page.refused.count
    switch walk.received(rows: rows, token: page.nextPageToken) {
    case .complete: return nil
    case .broken(let fault):
      throw HistoryError(.sourceFailed, sentence: "the source's pages do not end: \(fault)")
    case .next(let token):
      query.pageToken = token
      let next = FeedRequest(.bars(query), to: feedRequest.source)
      walks[next] = walk
      return next
    }
  }

  /// After a lost connection the stored chunk decides whether the task is stored.
  private func store(_ open: Open, place: Int, at now: Timestamp) async throws {
    let commit = HistoryCommit(
      knownAt: now, bars: open.bars, factors: open.factors, chunk: open.task.chunk)
    for attempt in 1... {
      do throws(StoreError) {
        let receipt = try await parts.writer.commit(commit)
        progress.candles += receipt.candles
        progress.revisions += receipt.revisions
        progress.gapsClosed += receipt.repairs.closedGaps
        parts.log.report(contradictedFactors: receipt.contradictedFactors)
        break
      } catch {
        guard error.code == .connectionLost || error.code == .transient,
          attempt < Self.storeTriesMax
        else { throw error }
        if try await isStored(commit, after: attempt) { break }
      }
    }
    tasks[place] = nil
    progress.tasksDone += 1
  }

  /// A store that restarts is back in seconds; one that stays away for five minutes is an outage.
  private static let storeTriesMax = 60
  private static let storePauseSeconds: UInt64 = 5

  /// An earlier run may have stored the same chunk, less far: the moment marks this commit's.
  private func isStored(_ commit: HistoryCommit, after attempt: Int) async throws -> Bool {
    if attempt > 1 {
      try? await Task.sleep(nanoseconds: Self.storePauseSeconds * 1_000_000_000)
    }
    do throws(StoreError) {
      try await parts.writer.connect()
      guard let name = commit.chunk?.name else { return false }
      return try await parts.writer.doneChunks([name])[name]?.doneAt == commit.knownAt
    } catch {
      parts.log.warning("cannot reach the database, will retry", metadata: ["error": "\(error)"])
      return false
    }
  }

  /// A task without all of its responses stores nothing.
  func abandon(_ feedRequest: FeedRequest, because end: PacedEnd) {
    walks[feedRequest] = nil
    guard let place = owners.removeValue(forKey: feedRequest), let open = tasks[place],
      end != .stopped
    else { return }
    parts.log.error(
      "gave up on a request", metadata: ["request": "\(feedRequest.journalKey)", "why": "\(end)"])
    tasks[place] = nil
    progress.tasksFailed += 1
    let rest = open.task.feedRequests.filter { owners.removeValue(forKey: $0) != nil }
    perform(queue.received(.withdrawn(rest), at: clock.now))
  }
}
