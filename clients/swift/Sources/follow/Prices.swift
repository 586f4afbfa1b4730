import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The newest quote of an instrument; the gateway sends more than this. Prices are text with the
/// digits that the database has: a `Decimal` made of it is exact, a `Double` is not.
struct Stock: Decodable, Sendable {
  var symbol: String
  var name: String?
  /// nil before the first trade of the day.
  var currentPrice: String?
  var change: String?
  var quotedAt: String
}

enum Update: Sendable {
  /// All instruments first, then those that changed.
  case stocks([Stock])
  /// Whether what was shown may be out of date, and why.
  case stale(Bool, reason: String)
}

/// The gateway will not serve this, however often it is asked.
struct Refused: Error { var status: Int }

/// Follows prices by server-sent events: `/v1/stream` sends the messages of the WebSocket, and
/// URLSession alone is enough to read them, on Linux as well. A lost connection is replaced, and
/// what changed meanwhile is sent because each event's `id` says where to resume.
struct Prices: Sendable {
  var gateway: URL
  var token: String?
  var symbols: [String]

  private static let retrySecondsMin = 0.5
  private static let retrySecondsMax = 30.0
  /// Heartbeats come every 15 s.
  private static let silenceSecondsMax = 35.0

  /// Ends when its task is cancelled. Throws `Refused`.
  func updates() -> AsyncThrowingStream<Update, any Error> {
    AsyncThrowingStream { continuation in
      let task = Task {
        do {
          try await follow { continuation.yield($0) }
        } catch {
          continuation.finish(throwing: error)
        }
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  private func follow(_ send: (Update) -> Void) async throws {
    var lastEventID: String?
    var isStale = false
    var attempts = 0
    func setStale(_ value: Bool, _ reason: String) {
      if value != isStale { send(.stale(value, reason: reason)) }
      isStale = value
    }
    while !Task.isCancelled {
      do {
        for try await event in EventStream.open(request(after: lastEventID)) {
          lastEventID = event.id ?? lastEventID
          guard let message = try? JSONDecoder().decode(Message.self, from: event.data) else {
            continue
          }
          attempts = 0
          switch message.type {
          case "snapshot", "stock-prices":
            setStale(false, "")
            send(.stocks(message.data ?? []))
          case "heartbeat":
            let silent = (message.feeds ?? []).filter(\.stale).map(\.source)
            setStale(!silent.isEmpty, "nothing new from \(silent.joined(separator: ", "))")
          default: break
          }
        }
        setStale(true, "connection lost")
      } catch let error as Refused {
        throw error
      } catch {
        setStale(true, "connection lost: \(error.localizedDescription)")
      }
      // Full jitter: any moment up to a limit that doubles with each attempt.
      let limit = min(Self.retrySecondsMax, Self.retrySecondsMin * exp2(Double(attempts)))
      attempts += 1
      try await Task.sleep(for: .seconds(.random(in: 0...limit)))
    }
  }

  private func request(after lastEventID: String?) -> URLRequest {
    let address = gateway.appending(path: "v1/stream").appending(queryItems: [
      URLQueryItem(name: "symbols", value: symbols.joined(separator: ","))
    ])
    var request = URLRequest(url: address, timeoutInterval: Self.silenceSecondsMax)
    request.setValue("text/event-stream", forHTTPHeaderField: "Accept")
    if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
    if let lastEventID { request.setValue(lastEventID, forHTTPHeaderField: "Last-Event-ID") }
    return request
  }

  private struct Message: Decodable {
    var type: String
    var data: [Stock]?
    var feeds: [Feed]?

    struct Feed: Decodable {
      var source: String
      var stale: Bool
    }
  }
}
