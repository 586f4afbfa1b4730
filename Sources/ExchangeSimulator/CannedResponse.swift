import Market

/// Answers that say no, and what faults do to any answer whatever is in it.

/// An answer word for word.
package struct CannedResponse: Sendable, Hashable {
  package var status: Int
  package var body: String
  package var contentType: String
  package var retryAfterSeconds: Int?
  /// Further headers, each `Name: value`.
  package var headers: [String]

  package init(
    status: Int, body: String, contentType: String = "application/json",
    retryAfterSeconds: Int? = nil, headers: [String] = []
  ) {
    self.status = status
    self.body = body
    self.contentType = contentType
    self.retryAfterSeconds = retryAfterSeconds
    self.headers = headers
  }

  /// What nginx says on its own.
  package static func nginx(_ status: Int, reason: String) -> CannedResponse {
    let title = "\(status) \(reason)"
    return CannedResponse(
      status: status,
      body: "<html>\r\n<head><title>\(title)</title></head>\r\n<body>\r\n<center><h1>\(title)"
        + "</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n",
      contentType: "text/html")
  }

  /// `null`: a Sina K-line or node page when it is throttled, or asked for too much.
  package static let null = CannedResponse(status: 200, body: "null")
  /// What a Sina service says to a question it cannot read.
  package static let inputError = CannedResponse(
    status: 200, body: #"{"__ERROR":1,"__ERRORMSG":"Input error"}"#)
}

extension SimulatedResponse {
  init(_ canned: CannedResponse) {
    self.init(status: canned.status, body: Array(canned.body.utf8))
    contentType = canned.contentType
    retryAfterSeconds = canned.retryAfterSeconds
    headers = canned.headers
  }

  static func json(_ body: [UInt8]) -> SimulatedResponse {
    var response = SimulatedResponse(body: body)
    response.contentType = "application/json; charset=utf-8"
    return response
  }

  /// `{"bars":[…` cut short, trickled or torn, as the faults say.
  func suffering(_ faults: [ActiveFault]) -> SimulatedResponse {
    var response = self
    for fault in faults {
      switch fault.kind {
      case .truncated(let byte):
        response.body = Array(body.prefix(byte ?? fault.number(below: body.count)))
      case .slowBody(let bytesPerSecond):
        response.delivery = .slow(bytesPerSecond: bytesPerSecond)
      case .cutConnection(let byte):
        response.delivery = .cut(afterBytes: min(byte, max(body.count - 1, 0)))
      case .wire(let script): response.delivery = .wire(script)
      default: continue
      }
    }
    return response
  }

  /// The answer of a fault that leaves nothing of the real one.
  static func refusal(_ faults: [ActiveFault]) -> SimulatedResponse? {
    for fault in faults {
      switch fault.kind {
      case .forbidden: return .text(403, "Forbidden")
      case .throttled: return .page(456, "Client Error")
      case .banPage:
        return .page(200, "你的 IP 存在异常访问(例如: 爬虫/攻击/探测 等), 已被新浪安全部门封禁.")
      case .internalError: return .page(500, "Internal Server Error")
      case .badGateway: return .page(502, "502 Bad Gateway")
      case .emptyBody: return SimulatedResponse(body: [])
      case .batchFailed: return .batchFailed
      case .garbageBody: return SimulatedResponse(body: fault.noise(bytes: 4096))
      case .reset: return delivered(.reset)
      case .neverResponds: return delivered(.never)
      case .response(let canned): return SimulatedResponse(canned)
      case .wire(let script) where !script.deliversBody: return delivered(.wire(script))
      default: continue
      }
    }
    return nil
  }

  static var batchFailed: SimulatedResponse {
    SimulatedResponse(body: Array("var hq_str_sys_auth=\"FAILED\";\n".utf8))
  }

  private static func delivered(_ delivery: SimulatedResponse.Delivery) -> SimulatedResponse {
    var response = SimulatedResponse(body: [])
    response.delivery = delivery
    return response
  }
}
