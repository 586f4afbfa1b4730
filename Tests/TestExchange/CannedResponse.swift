import ExchangeSimulator

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
}

extension SimulatedResponse {
  init(_ canned: CannedResponse) {
    self.init(
      status: canned.status, body: Array(canned.body.utf8), contentType: canned.contentType)
    retryAfterSeconds = canned.retryAfterSeconds
    headers = canned.headers
  }

  static func page(_ status: Int, _ sentence: String) -> SimulatedResponse {
    let html = "<html><head><title>\(sentence)</title></head><body>\(sentence)</body></html>\n"
    return SimulatedResponse(
      status: status, body: GB18030.encoded(html) ?? Array(html.utf8),
      contentType: "text/html; charset=GBK")
  }
}
