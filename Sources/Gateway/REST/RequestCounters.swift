/// How many requests were answered how, and how soon, for /metrics. Paths are those of the route
/// table, so that no client makes a label.

import AppStore
import HTTPTypes
import Market
import Platform

/// What kind of work a request is.
package enum RequestClass: String, CaseIterable, Sendable {
  /// Of the market, from memory or by a statement that reads some rows.
  case market
  /// Of the market, by statements that read many rows, or drawn.
  case history
  case account, trade, admin
  /// Behind a door.
  case foreign
  /// The page, and what monitors ask.
  case service
  /// Nothing is at its path.
  case unknown = "none"
}

extension Route {
  var requestClass: RequestClass {
    if door != nil { return .foreign }
    return switch scope {
    case .market: cost > 1 ? .history : .market
    case .account: .account
    case .trade: .trade
    case .admin: .admin
    case nil: .service
    }
  }
}

package final class RequestCounters: Sendable {
  package struct Key: Hashable, Sendable {
    package let path: String
    package let status: Int
  }

  struct Figures: Sendable {
    var requests: [Key: Int64] = [:]
    /// Of those that may succeed later, by the problem's code.
    var refusals: [String: Int64] = [:]
    /// From the head of a request to its answer; streams have none.
    var durations: [RequestClass: MetricHistogram] = [:]
  }

  private let state = Locked(Figures())

  package init() {}

  var figures: Figures { state.withLock { $0 } }

  func count(_ answer: Answer, to route: Route?, after duration: Duration) {
    let requestClass = route?.requestClass ?? .unknown
    state.withLock { state in
      state.count(
        route?.path ?? requestClass.rawValue, status: answer.status.code,
        refusal: answer.refusal)
      state.durations[requestClass, default: MetricHistogram()].record(duration)
    }
  }

  /// Counts a stream that began.
  /// - Parameter refusal: why it did not, where it may later.
  func count(stream path: String, status: Int, refusal: String? = nil) {
    state.withLock { $0.count(path, status: status, refusal: refusal) }
  }
}

extension RequestCounters.Figures {
  fileprivate mutating func count(_ path: String, status: Int, refusal: String?) {
    requests[RequestCounters.Key(path: path, status: status), default: 0] += 1
    if let refusal { refusals[refusal, default: 0] += 1 }
  }
}
