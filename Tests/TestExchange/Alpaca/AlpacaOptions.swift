import ExchangeSimulator
import Market

/// What a test may choose about the simulated Alpaca.
package struct AlpacaOptions: Sendable {
  /// Secrets by key id. Any other pair is refused.
  package var keys: [String: String] = [:]
  /// Of the American market, not of the Chinese one.
  package var seed: UInt64 = 1
  /// Without it, SIP data of the last 15 minutes is refused (the Basic plan).
  package var permitsRecentSIP = false
  /// Requests a key has in a minute of the clock; more are answered 429.
  package var requestsPerMinuteMax = 200

  package init(keys: [String: String] = [:]) { self.keys = keys }
}

/// Who asked Alpaca how often: the judge of whoever paces requests.
package struct AlpacaRequests: Sendable {
  private var counts: [String: [Int64: Int]] = [:]

  package init() {}

  /// Most requests a key made in any minute of the clock.
  package func mostInAMinute(_ key: String) -> Int { counts[key]?.values.max() ?? 0 }

  package func total(_ key: String) -> Int { counts[key]?.values.reduce(0, +) ?? 0 }

  /// - Returns: how many it has been in this minute.
  mutating func count(_ key: String, at moment: Timestamp) -> Int {
    counts[key, default: [:]][moment.seconds / 60, default: 0] += 1
    return counts[key]?[moment.seconds / 60] ?? 0
  }
}

extension UpstreamName {
  package static let alpaca = UpstreamName("alpaca")
}

/// The ways Alpaca says no (docs/sources/alpaca.md#refusals).
extension CannedResponse {
  package static let alpacaUnauthorized = nginx(401, reason: "Authorization Required")
  package static let alpacaGatewayTimeout = nginx(504, reason: "Gateway Time-out")
  package static let alpacaForbidden = alpacaMessage(403, sentence: "forbidden.")
  package static let alpacaRecentSIP = alpacaMessage(
    403, sentence: "subscription does not permit querying recent SIP data")
  /// As it was recorded: no header tells how long to wait.
  package static let alpacaThrottled = CannedResponse(
    status: 429, body: #"{"message": "too many requests."}"#)
  package static let alpacaInternal = CannedResponse(
    status: 500, body: #"{"code":50010000,"message":"internal server error occurred"}"#)

  package static func alpacaThrottled(retryAfterSeconds: Int) -> CannedResponse {
    var response = alpacaThrottled
    response.retryAfterSeconds = retryAfterSeconds
    return response
  }

  static func alpacaMessage(_ status: Int, sentence: String) -> CannedResponse {
    let escaped = sentence.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return CannedResponse(status: status, body: "{\"message\":\"\(escaped)\"}")
  }
}
