import Feeds
import Journal
import Logging
import Market
import Polling

/// How live quotes go on after a restart: with the source that served last, and without a request
/// to one that refused us, for the rest of its cool-down. Both are in the journal, with or without
/// a database, and must be known before the first request leaves.

/// What the journal's end says of live sources.
struct LiveTail {
  /// Who served last, by series; long ago is none.
  private(set) var serving: [Source: Source] = [:]
  private(set) var coolDowns: [Source: RecordedCoolDown] = [:]

  init(directory: String, at now: Timestamp) throws(JournalError) {
    let since = now.adding(seconds: -CoolDown.secondsMax)
    var servedAt: [Source: Timestamp] = [:]
    try JournalReader.heads(in: directory, since: since) { head in
      if head.kind == .control, head.key == RecordedCoolDown.series {
        coolDowns[head.source] = RecordedCoolDown(head, at: now)
      } else if head.isSwept {
        serving[head.source.instruments] = head.source
        servedAt[head.source.instruments] = head.receivedAt
      }
    }
    let servedSince = now.adding(seconds: -Failover.holdSeconds)
    serving = serving.filter { servedAt[$0.key].map { $0 >= servedSince } ?? false }
  }
}

/// A cool-down as the journal has it. It is the host's: with another one in the configuration it
/// means nothing.
struct RecordedCoolDown: Sendable, Hashable {
  let coolDown: CoolDown
  let host: String

  static let series = "cooldown"
  private static let overWord = "over"
  /// Where there is no network between.
  private static let noHost = "-"

  init(_ coolDown: CoolDown, host: String?) {
    self.coolDown = coolDown
    self.host = host ?? Self.noHost
  }

  /// `banned 60000 0 hq.sinajs.cn`: why, for how many milliseconds, which in a row, who.
  var text: String {
    let milliseconds = (coolDown.microseconds + 999) / 1_000
    return "\(coolDown.kind?.rawValue ?? Self.overWord) \(milliseconds) \(coolDown.level) \(host)"
  }

  /// nil for another text.
  init?(text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard words.count == 4, let milliseconds = Int64(words[1]), let level = Int(words[2]),
      (0...CoolDown.secondsMax * 1_000).contains(milliseconds)
    else { return nil }
    let kind = Poller.Refusal.Kind(rawValue: words[0])
    guard kind != nil || words[0] == Self.overWord else { return nil }
    host = words[3]
    coolDown = CoolDown(kind, microseconds: milliseconds * 1_000, level: level)
  }

  /// The cool-down with what is left of it at a moment. Of one recorded by a clock that was ahead
  /// all is left.
  fileprivate init?(_ head: JournalHead, at now: Timestamp) {
    guard let request = head.request,
      let recorded = RecordedCoolDown(text: String(decoding: request, as: UTF8.self))
    else { return nil }
    let age = max(now.microseconds(since: head.receivedAt), 0)
    host = recorded.host
    coolDown = CoolDown(
      recorded.coolDown.kind, microseconds: recorded.coolDown.microseconds - age,
      level: recorded.coolDown.level)
  }

  /// Whether it is of that host.
  func isOf(_ host: String?) -> Bool { self.host == host ?? Self.noHost }
}

extension JournalEntry {
  /// - Parameter text: nothing where what was recorded before means nothing any more.
  static func coolDown(_ text: String, of source: Source, at moment: Timestamp) -> JournalEntry {
    control(text, of: source, key: RecordedCoolDown.series, at: moment)
  }
}

extension JournalHead {
  /// The answer to a request of a sweep of live quotes.
  var isSwept: Bool {
    guard kind == .response, let group = JournalEntry.quotesGroup(key: key, of: source) else {
      return false
    }
    return group != QuotesQuery.probeGroup
  }
}

/// A longer body with status 200 holds quotes: ban pages are shorter.
private let refusalBytesMax = 16 << 10

extension Engine {
  /// Restores what the live sources did, before the first request.
  func restoreLive() {
    let tail: LiveTail
    do throws(JournalError) {
      tail = try LiveTail(directory: parts.journalDirectory, at: now)
    } catch {
      parts.log.error(
        "cannot read from the journal which live source served last",
        metadata: ["error": "\(error)"])
      return
    }
    for place in workers.slots.indices where !workers.slots[place].isClosed {
      guard var worker = workers.slots[place].worker as? QuotesWorker,
        let recorded = tail.coolDowns[worker.source], recorded.isOf(quotesHost(of: worker.source))
      else { continue }
      let actions = worker.restored(recorded.coolDown, at: now)
      workers.slots[place].worker = worker
      _ = perform(actions, of: place)
    }
    for series in workers.failovers.keys { restore(series, serving: tail.serving[series]) }
  }

  private func restore(_ series: Source, serving: Source?) {
    var refusals: [Source: Poller.Refusal] = [:]
    for slot in workers.slots where !slot.isClosed && slot.worker.source.instruments == series {
      let refusal = (slot.worker as? QuotesWorker)?.poller.refusal
      if let refusal, refusal.microseconds > 0 { refusals[slot.worker.source] = refusal }
    }
    let change = workers.failovers[series]?.restored(serving: serving, refusals: refusals, at: now)
    if let failover = workers.failovers[series], change == nil,
      failover.serving != failover.sources.first
    {
      parts.log.notice(
        "live quotes go on from the source that served before the start",
        metadata: ["source": "\(failover.serving.name)"])
    }
    finish(change, of: series)
  }

  /// A response with live quotes that has none, whose worker is given it before it is journaled:
  /// the next process must not find it without the cool-down that it causes. nil for any other.
  func refusal(in entry: JournalEntry) -> FeedResponse? {
    guard entry.quotesGroup != nil, entry.status != 200 || entry.body.count <= refusalBytesMax
    else { return nil }
    let response = Pipeline.classify(entry, rules: pipeline.rules).response
    if case .quotes(.ok) = response { return nil }
    // Nothing is retried or searched for while the journal takes no responses.
    let outcome = WorkerResponse(response: response).outcome
    let isCoolDown = [.banned, .unauthorised, .throttled].contains(outcome)
    return status.journal.fault == nil || isCoolDown ? response : nil
  }

  func record(_ coolDown: CoolDown, of place: Int) {
    let source = workers.slots[place].worker.source
    let recorded = RecordedCoolDown(coolDown, host: quotesHost(of: source))
    _ = journal(.coolDown(recorded.text, of: source, at: now))
  }

  /// A source that is taken out and comes back is asked like a new one, after a restart, too.
  func forgetCoolDown(of place: Int) {
    let worker = workers.slots[place].worker as? QuotesWorker
    guard let worker, worker.poller.refusal != nil else { return }
    _ = journal(.coolDown("", of: worker.source, at: now))
  }

  private func quotesHost(of source: Source) -> String? {
    let query = QuotesQuery(symbols: [], group: 0, askedAt: now)
    return parts.workers.upstream.hostName(of: FeedRequest(.quotes(query), to: source), host: 0)
  }
}
