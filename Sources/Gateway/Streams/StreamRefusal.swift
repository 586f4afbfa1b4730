/// Why a request opens no stream: RFC 9457.

import NIOHTTP1

enum StreamRefusal: Error, Sendable {
  case malformedUpgrade
  case originNotAllowed
  case tokenInAddress
  case unauthenticated
  case forbidden
  case tooManyConnections

  var status: HTTPResponseStatus {
    switch self {
    case .malformedUpgrade: .upgradeRequired
    case .originNotAllowed, .forbidden: .forbidden
    case .tokenInAddress: .badRequest
    case .unauthenticated: .unauthorized
    case .tooManyConnections: .tooManyRequests
    }
  }

  private var code: String {
    switch self {
    case .malformedUpgrade, .tokenInAddress: "invalid_argument"
    case .originNotAllowed, .forbidden: "forbidden"
    case .unauthenticated: "unauthenticated"
    case .tooManyConnections: "too_many_connections"
    }
  }

  private var title: String {
    switch self {
    case .malformedUpgrade: "expected Sec-WebSocket-Key and Sec-WebSocket-Version 13"
    case .originNotAllowed: "pages of this origin may not open streams"
    case .forbidden: "the token lacks the scope market"
    case .tokenInAddress:
      "a token does not belong into an address, where logs keep it: revoke this one and send "
        + "another in the Authorization header"
    case .unauthenticated: "expected a valid token or ticket"
    case .tooManyConnections: "the token or the address has too many streams open"
    }
  }

  var json: [UInt8] {
    var writer = JSONWriter()
    writer.object { problem in
      problem.member("type") { $0.string("about:blank") }
      problem.member("title") { $0.string(title) }
      problem.member("status") { $0.integer(Int64(status.code)) }
      problem.member("code") { $0.string(code) }
    }
    return writer.bytes
  }
}
