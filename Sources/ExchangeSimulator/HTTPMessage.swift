/// What of HTTP a market-data upstream needs: GET requests in, complete answers out.

package struct SimulatedRequest: Sendable {
  /// Path and query exactly as sent, without the host.
  package var target: String
  /// Names in lower case.
  package var headers: [String: String]

  package init(target: String, headers: [String: String] = [:]) {
    self.target = target
    self.headers = headers
  }
}

/// A way of a connection to treat an answer that no honest server has.
package protocol ResponseDelivery: Sendable {
  /// Whether the connection serves another request.
  var keepsConnection: Bool { get }

  /// - Returns: whether the client has the body, if it read to the end.
  func deliver(_ response: SimulatedResponse, head: [UInt8], on socket: Int32) -> Bool
}

/// An answer and how it is to be delivered.
package struct SimulatedResponse: Sendable {
  package var status: Int
  package var contentType: String
  package var body: [UInt8]
  /// nil: whole, and at once.
  package var delivery: (any ResponseDelivery)?
  package var retryAfterSeconds: Int?
  /// Further headers, each `Name: value`.
  package var headers: [String] = []
  /// What the observer noted about it; withdrawn if it cannot be delivered.
  package var ticket: ResponseTicket?

  package init(
    status: Int = 200, body: [UInt8],
    contentType: String = "application/javascript; charset=GB18030"
  ) {
    self.status = status
    self.body = body
    self.contentType = contentType
  }

  package static func text(_ status: Int, _ text: String) -> SimulatedResponse {
    SimulatedResponse(status: status, body: Array(text.utf8), contentType: "text/plain")
  }

  package static func json(_ body: [UInt8]) -> SimulatedResponse {
    SimulatedResponse(body: body, contentType: "application/json; charset=utf-8")
  }
}
