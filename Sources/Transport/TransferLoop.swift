// The transport thread: takes requests from the mailbox, drives libcurl's multi handle and answers.
//
// One thread and `curl_multi_poll` (a multi handle is not thread-safe, and the poll variant is as
// quick as epoll at our scale with half the code). Connections and the DNS cache live in the multi
// handle; easy handles are pooled, because a new one costs more than a reset. The loop sleeps in
// poll until a socket, a libcurl timer, the deadline of a waiting request or a wakeup.
import CCurl
import Glibc

/// `@unchecked` holds because everything but `mailbox` is touched by the one thread that runs
/// `run()`: `HTTPClient.init` hands the loop to that thread and keeps only the mailbox.
final class TransferLoop: @unchecked Sendable {
  let mailbox: Mailbox

  private let multi: OpaquePointer
  private let configuration: HTTPClientConfiguration
  private var waiting: [Submission] = []
  private var active: [OpaquePointer: Transfer] = [:]
  private var idle: [OpaquePointer] = []

  /// An upper bound on a sleep that nothing needs to end: libcurl's own timers shorten it.
  private static let pollMillisecondsMax = 60_000

  init(multi: OpaquePointer, configuration: HTTPClientConfiguration) {
    self.multi = multi
    self.configuration = configuration
    mailbox = Mailbox(multi: multi, requestsMax: configuration.requestsMax)
    ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, configuration.connectionsKeptMax)
  }

  /// Until the mailbox says stop; then every request still here ends with `shutDown`.
  func run() {
    while receive() {
      startWaiting()
      var running: Int32 = 0
      curl_multi_perform(multi, &running)
      finishDone()
      if !waiting.contains(where: hasRoom) { sleep() }
    }
    closeDown()
  }

  /// False when it is time to stop.
  private func receive() -> Bool {
    let mail = mailbox.take()
    waiting += mail.submissions
    for ticket in mail.cancellations { cancel(ticket) }
    expireWaiting()
    return !mail.isStopping
  }

  private func sleep() {
    let now = ContinuousClock.now
    let waitingMilliseconds = waiting.map { $0.remainingMilliseconds(at: now) }.min()
    let milliseconds = min(
      waitingMilliseconds ?? TransferLoop.pollMillisecondsMax, TransferLoop.pollMillisecondsMax)
    curl_multi_poll(multi, nil, 0, Int32(milliseconds), nil)
  }

  // MARK: Start

  private func startWaiting() {
    guard waiting.contains(where: hasRoom) else { return }
    let candidates = waiting
    waiting = []
    for submission in candidates {
      if hasRoom(for: submission) { start(submission) } else { waiting.append(submission) }
    }
  }

  private func hasRoom(for submission: Submission) -> Bool {
    let base = submission.request.base
    return active.values.count { $0.submission.request.base == base } < configuration.transfersMax
  }

  private func start(_ submission: Submission) {
    guard let easy = idle.popLast() ?? curl_easy_init() else {
      return complete(submission, with: .failure(submission.error(.noResources)))
    }
    let transfer = Transfer(submission, easy: easy)
    do throws(TransportError) {
      let remaining = submission.remainingMilliseconds(at: .now)
      try transfer.prepare(configuration, remainingMilliseconds: remaining)
    } catch {
      park(easy)
      return complete(submission, with: .failure(error))
    }
    guard curl_multi_add_handle(multi, easy) == CURLM_OK else {
      park(easy)
      return complete(submission, with: .failure(submission.error(.noResources)))
    }
    active[easy] = transfer
  }

  // MARK: End

  private func finishDone() {
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
        let transfer = active[easy]
      else { continue }
      // Read before the handle is removed: removal may free the message.
      let code = ccurl_message_result(message)
      finish(transfer, with: transfer.result(code))
    }
  }

  private func finish(_ transfer: Transfer, with result: Result<HTTPResponse, TransportError>) {
    curl_multi_remove_handle(multi, transfer.easy)
    active[transfer.easy] = nil
    park(transfer.easy)
    complete(transfer.submission, with: result)
  }

  /// Keeps the handle for the next request, without anything of this one.
  private func park(_ easy: OpaquePointer) {
    curl_easy_reset(easy)
    idle.append(easy)
  }

  private func complete(_ submission: Submission, with result: Result<HTTPResponse, TransportError>)
  {
    mailbox.release(submission.ticket)
    submission.continuation.resume(returning: result)
  }

  private func cancel(_ ticket: UInt64) {
    if let index = waiting.firstIndex(where: { $0.ticket == ticket }) {
      let submission = waiting.remove(at: index)
      complete(submission, with: .failure(submission.error(.cancelled)))
    } else if let transfer = active.values.first(where: { $0.submission.ticket == ticket }) {
      finish(transfer, with: .failure(transfer.error(.cancelled)))
    }
  }

  private func expireWaiting() {
    let now = ContinuousClock.now
    let expired = waiting.filter { $0.remainingMilliseconds(at: now) <= 0 }
    guard !expired.isEmpty else { return }
    waiting.removeAll { $0.remainingMilliseconds(at: now) <= 0 }
    for submission in expired { complete(submission, with: .failure(submission.error(.timeout))) }
  }

  private func closeDown() {
    waiting += mailbox.close().submissions
    for transfer in Array(active.values) {
      finish(transfer, with: .failure(transfer.error(.shutDown)))
    }
    for submission in waiting { complete(submission, with: .failure(submission.error(.shutDown))) }
    waiting = []
    for easy in idle { curl_easy_cleanup(easy) }
    idle = []
    curl_multi_cleanup(multi)
  }
}

extension Submission {
  /// Zero or less once the deadline has passed; one that was never positive is left to `prepare`.
  func remainingMilliseconds(at now: ContinuousClock.Instant) -> Int {
    guard request.deadlineMilliseconds > 0 else { return 1 }
    let (seconds, attoseconds) = (now - submittedAt).components
    let spent = Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000)
    return request.deadlineMilliseconds - spent
  }

  func error(_ code: TransportError.Code) -> TransportError {
    TransportError(code, route: request.route)
  }
}
