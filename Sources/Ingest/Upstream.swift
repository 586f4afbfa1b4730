import Feeds
import Market
import Polling
import Transport

/// Who answers a poll. The daemon asks over HTTP; a test may answer from memory.
package protocol Upstream: Sendable {
  /// Whom it asks; nil where there is no network between.
  var host: String? { get }
  func response(to request: PollRequest, at now: Timestamp) async -> UpstreamResponse
}

extension Upstream {
  package var host: String? { nil }
}

/// What came back, or why nothing did.
package enum UpstreamResponse: Sendable {
  /// `date` is its server's, as the header gives it.
  case response(status: Int32, body: [UInt8], retryAfter: String?, date: String? = nil)
  case failure(TransportError)

  /// How long the source asks to be left alone, from `now` on; nil if it does not say.
  func retryAfterSeconds(at now: Timestamp) -> Int? {
    guard case .response(_, _, let retryAfter?, _) = self else { return nil }
    return RetryAfter.seconds(retryAfter, now: now)
  }

  /// When the server says it answered; nil if it does not.
  func date(at now: Timestamp) -> Timestamp? {
    guard case .response(_, _, _, let date?) = self else { return nil }
    return RetryAfter.date(date, now: now)
  }
}

/// The live quotes of a source over HTTP.
package struct HTTPQuoteUpstream: Upstream {
  private let client: HTTPClient
  private let quotes: QuotesDeclaration
  private let base: BaseAddress
  /// The engine's seconds in a real one: deadlines are the engine's, the wire's are real.
  private let speed: Int

  static let connectMilliseconds = 2_000

  package var host: String? { base.host }

  package init(
    client: HTTPClient, quotes: QuotesDeclaration, base: BaseAddress, speed: Int = 1
  ) {
    self.client = client
    self.quotes = quotes
    self.base = base
    self.speed = speed
  }

  package func response(to request: PollRequest, at now: Timestamp) async -> UpstreamResponse {
    let endpoint = quotes.endpoint(request.symbols, now)
    let call = HTTPRequest(
      base: base, path: endpoint.path, headers: endpoint.headers.map { ($0.name, $0.value) },
      deadlineMilliseconds: request.deadlineMilliseconds / speed,
      connectMilliseconds: Self.connectMilliseconds,
      bodyBytesMax: quotes.bodyBytesMax, route: endpoint.route)
    return await client.response(to: call)
  }
}

extension HTTPClient {
  func response(to call: HTTPRequest) async -> UpstreamResponse {
    do throws(TransportError) {
      let response = try await send(call)
      return .response(
        status: Int32(response.status), body: response.body,
        retryAfter: response.headers["retry-after"], date: response.date)
    } catch {
      return .failure(error)
    }
  }
}
