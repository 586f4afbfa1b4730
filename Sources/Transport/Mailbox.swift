// What tasks leave for the transport thread: requests, cancellations and the order to stop.
//
// Every request holds a ticket from before it is submitted until its answer is on the way. The
// ticket is what makes cancellation exact: a cancellation may come before the submission, between
// submission and start, during the transfer, or after the answer, and in each case the continuation
// is resumed exactly once. It also is the bound on requests.
import CCurl

/// A request on its way to the thread, with the task that waits for it.
struct Submission {
  typealias Continuation = CheckedContinuation<Result<HTTPResponse, TransportError>, Never>

  let ticket: UInt64
  let request: HTTPRequest
  let submittedAt: ContinuousClock.Instant
  let continuation: Continuation
}

/// Everything left since the thread last looked.
struct Mail {
  var submissions: [Submission] = []
  var cancellations: [UInt64] = []
  var isStopping = false
}

/// `@unchecked` holds because every stored `var` is touched only inside `mutex.withLock`. The multi
/// handle is used here for `curl_multi_wakeup` alone, the one call libcurl allows from any thread,
/// and only under the same lock and while `isOpen`; the thread frees the handle after it has
/// cleared `isOpen` under the lock.
final class Mailbox: @unchecked Sendable {
  private enum Ticket { case reserved, cancelledEarly, submitted }

  private let mutex = PthreadMutex()
  private let multi: OpaquePointer
  private let requestsMax: Int
  private var tickets: [UInt64: Ticket] = [:]
  private var ticketLast: UInt64 = 0
  private var mail = Mail()
  private var isOpen = true

  init(multi: OpaquePointer, requestsMax: Int) {
    self.multi = multi
    self.requestsMax = requestsMax
  }

  // MARK: Tasks

  func reserve(route: String) -> Result<UInt64, TransportError> {
    mutex.withLock {
      guard isOpen, !mail.isStopping else {
        return .failure(TransportError(.shutDown, route: route))
      }
      guard tickets.count < requestsMax else {
        return .failure(TransportError(.tooManyInFlight, route: route))
      }
      ticketLast += 1
      tickets[ticketLast] = .reserved
      return .success(ticketLast)
    }
  }

  func submit(_ submission: Submission) {
    let refusal: TransportError.Code? = mutex.withLock {
      let isCancelled = tickets[submission.ticket] == .cancelledEarly
      guard !isCancelled, isOpen, !mail.isStopping else {
        tickets[submission.ticket] = nil
        return isCancelled ? .cancelled : .shutDown
      }
      tickets[submission.ticket] = .submitted
      mail.submissions.append(submission)
      curl_multi_wakeup(multi)
      return nil
    }
    guard let refusal else { return }
    let error = TransportError(refusal, route: submission.request.route)
    submission.continuation.resume(returning: .failure(error))
  }

  func cancel(_ ticket: UInt64) {
    mutex.withLock {
      switch tickets[ticket] {
      case .reserved: tickets[ticket] = .cancelledEarly
      case .submitted where isOpen:
        mail.cancellations.append(ticket)
        curl_multi_wakeup(multi)
      case .submitted, .cancelledEarly, nil: break
      }
    }
  }

  func stop() {
    mutex.withLock {
      guard isOpen else { return }
      mail.isStopping = true
      curl_multi_wakeup(multi)
    }
  }

  // MARK: The thread

  /// All there is; the stop order stays.
  func take() -> Mail {
    mutex.withLock {
      let taken = mail
      mail = Mail(isStopping: taken.isStopping)
      return taken
    }
  }

  /// The ticket's request is about to be answered: a later cancellation finds nothing.
  func release(_ ticket: UInt64) {
    mutex.withLock { tickets[ticket] = nil }
  }

  /// After this no task touches the multi handle. Returns what came in since the last `take`.
  func close() -> Mail {
    mutex.withLock {
      isOpen = false
      return mail
    }
  }
}
