/// Delivers notifications to webhooks: at least once, and of each webhook in order.
///
///     pending → POST → 2xx → position · other → pause → POST … → disabled
///
/// Of all gateways one delivers, that which holds the lease. A webhook has one request at a
/// time and its own pauses, so that a receiver that is slow holds up itself. What became of a
/// request is kept until it is stored; where that is lost with the process, the next gateway sends
/// the same notification again, with the same id.

import AppStore
import Logging
import Market
import Platform
import Postgres
import Transport

package struct WebhookOptions: Sendable {
  package var rule = WebhookRule()
  /// After the first failure, and after many: twice as long each time.
  package var pauseMilliseconds: ClosedRange<Int64> = 5_000...3_600_000
  /// In which a receiver must answer.
  package var deadlineMilliseconds = 10_000

  package init() {}
}

package final class Webhooks: Sendable {
  private struct State: Sendable {
    /// To be stored.
    var outcomes: [DeliveryOutcome] = []
    /// Webhooks with a request, or with an outcome that is not stored yet.
    var inFlight: Set<Int64> = []
    /// By outcome.
    var attempts: [String: Int64] = [:]
    /// Whether this gateway delivers.
    var leads = false
    /// Of how many webhooks a notification waits.
    var waiting: Int64 = 0
    /// Since when the oldest waits; nil: none does.
    var waitingSince: ContinuousClock.Instant?
  }

  private let options: WebhookOptions
  private let state = Locked(State())
  private let interrupt = Interrupt()

  /// At once, of all webhooks.
  private static let requestsMax = 32
  /// Of what a receiver answers; it is not looked at, and cut off there.
  private static let answerBytesMax = 65_536
  /// RFC 9110, section 15.5.11.
  private static let goneStatus = 410

  package init(_ options: WebhookOptions = WebhookOptions()) { self.options = options }

  /// - Throws: `transient` if the system has no thread to give.
  package func follow(url: String, log: Logger) throws(StoreError) -> DatabaseFollower {
    let client = try client()
    return try DatabaseFollower(
      "webhooks", failure: "the database of webhooks cannot be used: they are called later",
      recovery: "webhooks are called again", interrupt: interrupt, log: log
    ) { (follower) throws(AppStoreError) in
      defer { self.state.withLock { $0.leads = false } }
      let connection = try follower.connect(to: url, listeningTo: [.notification, .webhook])
      let beganOnStandby = try connection.isStandby()
      let queue = WebhookQueue(connection)
      var lease = GatewayLease(.webhooks, over: connection)
      while !follower.isStopped {
        self.interrupt.clear()
        if beganOnStandby {
          // Once promoted it takes notifications, of a new connection.
          guard try connection.isStandby() else { return }
        } else if lease.term == nil,
          try lease.take(holder: GatewayLease.thisProcess, at: Self.milliseconds)
        {
          self.state.withLock { $0.leads = true }
          log.notice("this gateway calls webhooks")
        }
        try lease.beat(at: Self.milliseconds)
        let milliseconds =
          try lease.term.map { (term) throws(AppStoreError) in
            try self.turn(queue, inTerm: term, with: client)
          } ?? GatewayLease.lookMilliseconds
        follower.succeeded()
        _ = try follower.wait(on: connection, milliseconds: milliseconds)
      }
    }
  }

  private static var milliseconds: Int64 { MonotonicClock.milliseconds() }

  private func client() throws(StoreError) -> HTTPClient {
    var configuration = HTTPClientConfiguration()
    configuration.transfersMax = Self.requestsMax
    let rule = options.rule
    configuration.refuses = { rule.refuses($0) }
    do throws(TransportError) {
      return try HTTPClient(configuration)
    } catch {
      throw StoreError(.transient, message: error.sentence, context: "webhooks")
    }
  }

  // MARK: Turn

  /// - Returns: how long nothing is due.
  private func turn(
    _ queue: WebhookQueue, inTerm term: Int64, with client: HTTPClient
  ) throws(AppStoreError) -> Int32 {
    while let outcome = state.withLock({ $0.outcomes.first }) {
      try queue.record(outcome, inTerm: term)
      state.withLock { state in
        state.outcomes.removeFirst()
        state.inFlight.remove(outcome.delivery.webhookID)
      }
    }
    // Those in flight may stand before all others.
    let (deliveries, oldestSeconds, waiting) = try queue.pending(limit: Int32(Self.requestsMax * 2))
    var due: [PendingDelivery] = []
    let later = state.withLock { state in
      state.waitingSince = deliveries.isEmpty ? nil : .now - .seconds(oldestSeconds)
      state.waiting = waiting
      let others = deliveries.filter { !state.inFlight.contains($0.webhookID) }
      // Longer than any pause is one by a clock that was set.
      let longest = options.pauseMilliseconds.upperBound
      due = Array(
        others.filter { $0.waitMilliseconds == 0 || $0.waitMilliseconds > longest }
          .prefix(Self.requestsMax - state.inFlight.count))
      state.inFlight.formUnion(due.map(\.webhookID))
      return others.map(\.waitMilliseconds).filter { $0 > 0 }.min()
    }
    for delivery in due { start(delivery, with: client) }
    return Int32(clamping: min(later ?? .max, GatewayLease.beatMilliseconds))
  }

  private func start(_ delivery: PendingDelivery, with client: HTTPClient) {
    Task {
      let failure = await attempt(delivery, with: client)
      state.withLock { state in
        state.attempts[failure?.reason ?? Figures.delivered, default: 0] += 1
        state.outcomes.append(DeliveryOutcome(delivery, failure: failure))
      }
      interrupt.signal()
    }
  }

  // MARK: Request

  private func attempt(
    _ delivery: PendingDelivery, with client: HTTPClient
  ) async -> DeliveryOutcome.Failure? {
    do {
      guard let target = try options.rule.target(of: delivery.url) else {
        return failure("url", sentence: "it is no URL", of: delivery)
      }
      let response = try await client.send(request(delivery, to: target))
      if (200..<300).contains(response.status) { return nil }
      return failure(
        "status", sentence: "the receiver answered \(response.status)", of: delivery,
        isFinal: response.status == Self.goneStatus)
    } catch let error as WebhookRule.Refusal {
      return failure("url", sentence: error.sentence, of: delivery)
    } catch let error as TransportError {
      return failure(error.code.rawValue, sentence: error.sentence, of: delivery)
    } catch {
      return failure(
        TransportError.Code.other.rawValue, sentence: "the request failed", of: delivery)
    }
  }

  /// - Parameter reason: one of `Figures.outcomes`.
  private func failure(
    _ reason: String, sentence: String, of delivery: PendingDelivery, isFinal: Bool = false
  ) -> DeliveryOutcome.Failure {
    let doublings = min(delivery.failures, Self.doublingsMax)
    return DeliveryOutcome.Failure(
      reason, sentence: sentence,
      pauseMilliseconds: min(
        options.pauseMilliseconds.lowerBound << Int64(doublings),
        options.pauseMilliseconds.upperBound),
      isFinal: isFinal)
  }

  /// Beyond any pause.
  private static let doublingsMax: Int32 = 30

  private func request(
    _ delivery: PendingDelivery, to target: WebhookRule.Target
  ) -> HTTPRequest {
    let body = JSONWriter.encode { delivery.notification.writeWhole(to: &$0) }
    // A receiver must not take a number that was given again for one that it has.
    let number = String(delivery.notification.id)
    let id = delivery.epoch == 0 ? number : "\(delivery.epoch)-\(number)"
    let seconds = SystemClock.realMicroseconds() / 1_000_000
    var request = HTTPRequest(
      base: target.base, path: target.path,
      headers: [
        ("content-type", "application/json"), ("user-agent", "candled-gateway"),
        ("webhook-id", id), ("webhook-timestamp", String(seconds)),
        (
          "webhook-signature",
          WebhookSecret(delivery.secret).signature(id: id, seconds: seconds, body: body)
        ),
      ],
      deadlineMilliseconds: options.deadlineMilliseconds,
      connectMilliseconds: options.deadlineMilliseconds, bodyBytesMax: Self.answerBytesMax,
      route: "webhook")
    request.body = body
    request.needsBody = false
    return request
  }

  // MARK: Figures

  /// For metrics.
  package struct Figures: Sendable, Hashable {
    /// Requests by outcome.
    var attempts: [String: Int64] = [:]
    /// Of how many webhooks a notification waits, and how long the oldest does; nil unless this
    /// gateway delivers.
    var waiting: Int64?
    var waitingMicroseconds: Int64?

    static let delivered = "delivered"
    static let outcomes =
      [delivered, "status", "url"] + TransportError.Code.allCases.map(\.rawValue)
  }

  package var figures: Figures {
    state.withLock { state in
      guard state.leads else { return Figures(attempts: state.attempts) }
      let age = (state.waitingSince ?? .now).duration(to: .now)
      return Figures(
        attempts: state.attempts, waiting: state.waiting,
        waitingMicroseconds: Int64(age / .microseconds(1)))
    }
  }
}
