// What tasks leave for the transport thread: requests, cancellations and the order to stop.
//
// Every request holds a ticket from before it is submitted until its answer is on the way. The
// ticket is what makes cancellation exact: a cancellation may come before the submission, between
// submission and start, during the transfer, or after the answer, and in each case the continuation
// is resumed exactly once. It also is the bound on requests.
import CCurl
import Platform

/// A request on its way to the thread, with the task that waits for it.
struct Submission: Sendable {
  typealias Continuation = CheckedContinuation<Result<HTTPResponse, TransportError>, Never>

  let ticket: UInt64
  let request: HTTPRequest
  let submittedAt: ContinuousClock.Instant
  let continuation: Continuation
}

/// Everything left since the thread last looked.
struct Mail: Sendable {
  var submissions: [Submission] = []
  var cancellations: [UInt64] = []
  var isStopping = false
}

final class Mailbox: Sendable {
  private enum Ticket { case reserved, cancelledEarly, submitted }

  private struct State {
    var tickets: [UInt64: Ticket] = [:]
    var ticketLast: UInt64 = 0
    var mail = Mail()
    var isOpen = true
  }

  private let state = Locked(State())
  // Safe: used here for `curl_multi_wakeup` alone, the one call libcurl allows from any thread, and
  // only with `state` locked and open; the thread frees the handle after it has closed `state`.
  nonisolated(unsafe) private let multi: OpaquePointer
  private let requestsMax: Int

  init(multi: OpaquePointer, requestsMax: Int) {
    self.multi = multi
    self.requestsMax = requestsMax
  }

  // MARK: Tasks

  func reserve(route: String) -> Result<UInt64, TransportError> {
    state.withLock { state in
      guard state.isOpen, !state.mail.isStopping else {
        return .failure(TransportError(.shutDown, route: route))
      }
      guard state.tickets.count < requestsMax else {
        return .failure(TransportError(.tooManyInFlight, route: route))
      }
      state.ticketLast += 1
      state.tickets[state.ticketLast] = .reserved
      return .success(state.ticketLast)
    }
  }

  func submit(_ submission: Submission) {
    let refusal: TransportError.Code? = state.withLock { state in
      let isCancelled = state.tickets[submission.ticket] == .cancelledEarly
      guard !isCancelled, state.isOpen, !state.mail.isStopping else {
        state.tickets[submission.ticket] = nil
        return isCancelled ? .cancelled : .shutDown
      }
      state.tickets[submission.ticket] = .submitted
      state.mail.submissions.append(submission)
      curl_multi_wakeup(multi)
      return nil
    }
    guard let refusal else { return }
    let error = TransportError(refusal, route: submission.request.route)
    submission.continuation.resume(returning: .failure(error))
  }

  func cancel(_ ticket: UInt64) {
    state.withLock { state in
      switch state.tickets[ticket] {
      case .reserved: state.tickets[ticket] = .cancelledEarly
      case .submitted where state.isOpen:
        state.mail.cancellations.append(ticket)
        curl_multi_wakeup(multi)
      case .submitted, .cancelledEarly, nil: break
      }
    }
  }

  func stop() {
    state.withLock { state in
      guard state.isOpen else { return }
      state.mail.isStopping = true
      curl_multi_wakeup(multi)
    }
  }

  // MARK: The thread

  /// All there is; the stop order stays.
  func take() -> Mail {
    state.withLock { state in
      let taken = state.mail
      state.mail = Mail(isStopping: taken.isStopping)
      return taken
    }
  }

  /// The ticket's request is about to be answered: a later cancellation finds nothing.
  func release(_ ticket: UInt64) {
    state.withLock { $0.tickets[ticket] = nil }
  }

  /// After this no task touches the multi handle. Returns what came in since the last `take`.
  func close() -> Mail {
    state.withLock { state in
      state.isOpen = false
      return state.mail
    }
  }
}
