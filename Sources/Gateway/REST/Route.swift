/// A route of the API, as data: the table of these serves requests and makes the OpenAPI document,
/// so that neither knows what the other does not.

import AppStore
import HTTPTypes
import Logging
import NIOCore

/// Of one request, while it is answered.
package struct GatewayContext: Sendable {
  /// Of the connection: behind a proxy, the proxy's.
  let peer: SocketAddress?
  /// Kept: while a request is answered no other connection has its address in memory.
  private let channel: any Channel
  /// Whom `ConnectionTable` knows it as.
  var connection: ObjectIdentifier { ObjectIdentifier(channel) }
  /// nil where nothing is at the path.
  package internal(set) var route: Route?
  /// What the request takes from its client's bucket.
  var cost = 1
  /// nil for the gateway's own API.
  package internal(set) var door: Door?
  /// Who asks, as access control found.
  package internal(set) var principal = Principal.anonymous

  let log: Logger

  package init(of channel: any Channel, log: Logger) {
    peer = channel.remoteAddress
    self.channel = channel
    self.log = log
  }
}

package struct Route: Sendable {
  package typealias Handler = @Sendable (Arguments) async throws -> Answer

  package let method: HTTPRequest.Method
  /// `/v1/stocks/{symbol}`
  package let path: String
  /// Of the path, each with the name of what differs there.
  private let segments: [(text: Substring, parameter: String?)]
  package let summary: String
  /// What a token must allow; nil: for everybody who reaches the address: it is no market data, and
  /// no user's data.
  package let scope: TokenScope?
  package let parameters: [Parameter]
  /// What it answers with where nothing is wrong, the usual one first.
  package let answers: [DeclaredAnswer]
  package let contentType: String
  /// What the body must be; nil for none.
  package let body: Schema?
  /// Those that only this route and some others answer with.
  package let problems: [HTTPResponse.Status]
  /// In whose format problems are answered; nil for the gateway's own.
  package let door: Door?
  /// Whether the connection becomes a stream: there is no HEAD of it, and no tag.
  package let isStream: Bool
  /// Whether the OpenAPI document has it: what the page is made of is not for programs.
  package let isAPI: Bool
  /// What a request takes from its client's bucket, its symbols and rows aside: one for what memory
  /// has, or a statement that reads some rows.
  var cost: Int { costs.base }
  /// And what its values take besides.
  private var costs: (base: Int, besides: @Sendable ([String: String]) -> Int) = (1, { _ in 0 })
  let handler: Handler

  package init(
    _ path: String, method: HTTPRequest.Method = .get, summary: String,
    scope: TokenScope? = .market, parameters: [Parameter] = [],
    status: HTTPResponse.Status = .ok, answer: Schema?, contentType: String = "application/json",
    others: [DeclaredAnswer] = [], body: Schema? = nil,
    problems: [HTTPResponse.Status] = [], door: Door? = nil, isStream: Bool = false,
    isAPI: Bool = true, handler: @escaping Handler
  ) {
    self.method = method
    self.path = path
    segments = path.split(separator: "/", omittingEmptySubsequences: false).map { text in
      (text, text.hasPrefix("{") ? String(text.dropFirst().dropLast()) : nil)
    }
    self.summary = summary
    self.scope = scope
    self.parameters = parameters
    answers = [DeclaredAnswer(status, schema: answer)] + others
    self.contentType = contentType
    self.body = body
    self.problems = problems
    self.door = door
    self.isStream = isStream
    self.isAPI = isAPI
    self.handler = handler
  }

  /// Every status that is no answer: those of its own, and what the table and the door before it
  /// answer to any request.
  var otherStatuses: [Int] {
    var statuses: Set = [400, 401, 403, 405, 414, 421, 429, 431, 500]
    statuses.formUnion(problems.map(\.code))
    if method == .get, !isStream { statuses.insert(304) }
    if parameters.contains(where: { $0.place == .path }) { statuses.insert(404) }
    if body != nil { statuses.formUnion([413, 415]) }
    return statuses.sorted()
  }

  func costing(
    _ cost: Int, besides: @escaping @Sendable ([String: String]) -> Int = { _ in 0 }
  ) -> Route {
    var route = self
    route.costs = (cost, besides)
    return route
  }

  /// 500 symbols in a request are the work of ten, and so are 25,000 rows.
  static let symbolsOfCost = 50
  static let rowsOfCost = 2_500

  /// - Parameter values: of a request, each of them valid.
  func cost(of values: [String: String]) -> Int {
    parameters.reduce(cost + costs.besides(values)) { sum, parameter in
      guard let value = values[parameter.name] else { return sum }
      return switch parameter.kind {
      case .list: sum + Parameter.items(of: value).count / Self.symbolsOfCost
      case .integer where parameter.name == "limit": sum + (Int(value) ?? 0) / Self.rowsOfCost
      default: sum
      }
    }
  }

  /// The values of the path's parameters; nil where the path is another's.
  func match(_ parts: [Substring]) -> [String: String]? {
    guard parts.count == segments.count else { return nil }
    var values: [String: String] = [:]
    for (segment, part) in zip(segments, parts) {
      if let name = segment.parameter, !part.isEmpty {
        values[name] = String(part)
      } else if segment.text != part {
        return nil
      }
    }
    return values
  }
}

/// An answer that is no problem, as the document shows it.
package struct DeclaredAnswer: Sendable {
  let status: HTTPResponse.Status
  /// nil for nothing.
  let schema: Schema?

  package init(_ status: HTTPResponse.Status, schema: Schema?) {
    self.status = status
    self.schema = schema
  }
}
