import AppStore

/// Requests and frames as clients send them, and what becomes of them in hostile hands.
package enum HostileBytes {
  /// Whole requests, each of another kind.
  package static let heads: [[UInt8]] = {
    let token = HostileGateway.secret.reveal()
    let paths = [
      "/v1/stocks/sh600519", "/v1/stocks?symbols=sh600519,AAPL", "/v1/stocks?q=6005&limit=20",
      "/v1/stocks?sort=changePercent&order=desc&limit=5&cursor=eyJ9",
      "/v1/stocks/600519.SH/history?interval=1m&from=2026-07-06T09:30:00%2B08:00&points=300",
      "/v1/stocks/AAPL/history?interval=1d&period=1y&adjust=qfq:2025-06-30&fill=flat",
      "/v1/stocks/sh600519/why?at=2026-07-06T09:31:00%2B08:00&interval=1m",
      "/v1/stocks/sh600519/gaps?from=2026-07-06", "/v1/stocks/AAPL/history?format=columns",
      "/v1/stocks/sh600519/revisions?limit=1",
      "/v1/coverage?source=sina", "/v1/disagreements", "/v1/sources", "/v1/market",
      "/v1/openapi.json", "/v1/watchlists", "/v1/preferences", "/metrics", "/livez", "/readyz", "*",
    ]
    var heads = paths.map { "GET \($0) HTTP/1.1\r\nHost: localhost\r\n\r\n" }
    let post = { (method: String, path: String, body: String) in
      "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n"
        + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }
    heads += [
      post("POST", "/v1/watchlists", #"{"name":"one"}"#), post("POST", "/v1/tickets", ""),
      post("PUT", "/v1/preferences", #"{"every":"1s"}"#), post("DELETE", "/v1/watchlists/1", ""),
      post(
        "PUT", "/v1/watchlists/1/symbols",
        #"{"symbols":["sh600519",{"symbol":"AAPL","low":"1"}]}"#),
      post("PUT", "/v1/watchlists/1/symbols/AAPL", #"{"low":"1.5","high":"2"}"#),
      "HEAD /v1/stocks HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n"
        + "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "OPTIONS /v1/stocks HTTP/1.1\r\nHost: [::1]:8466\r\nOrigin: https://app.example\r\n"
        + "Access-Control-Request-Method: GET\r\n\r\n",
      "POST /v1/watchlists HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
        + "Expect: 100-continue\r\n\r\n4\r\n{\"na\r\n9;x=y\r\nme\":\"b\"}x\r\n0\r\nT: x\r\n\r\n",
      "GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip, deflate;q=0\r\n"
        + "If-None-Match: W/\"a\", *\r\nX-Forwarded-For: 192.0.2.7, [2001:db8::1]:3\r\n\r\n",
      "GET /v1/stream?symbols=sh600519&channels=stock-prices,candles&every=2s HTTP/1.1\r\n"
        + "Host: localhost\r\nLast-Event-ID: 7-1\r\n\r\n",
      "GET http://localhost/v1/market HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
      "GET /v1/market HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\n"
        + "Upgrade: h2c\r\nHTTP2-Settings: AAA\r\n\r\n",
    ]
    return heads.map { Array($0.utf8) } + [upgrade]
  }()

  /// Opens a WebSocket.
  package static let upgrade = Array(
    ("GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").utf8)

  /// Masked frames, some in fragments.
  package static let frames: [[UInt8]] = {
    let texts = [
      #"{"action":"subscribe","id":"7","after":{"epoch":7,"seq":1},"channels":["#
        + #"{"name":"stock-prices","symbols":["sh600519","AAPL"],"every":"2s"}]}"#,
      #"{"action":"subscribe","channels":[{"name":"candles","symbols":["sh600519"],"#
        + #""intervals":["1m"]},{"name":"gaps"},{"name":"minute-complete"},{"name":"market"}]}"#,
      #"{"action":"unsubscribe","id":1,"channels":[{"name":"gaps"},{"name":"stock-prices"}]}"#,
      #"{"action":"auth","token":"\#(HostileGateway.secret.reveal())"}"#,
      #"{"action":"ping","id":"x"}"#, #"{"action":"fly","id":-1}"#, "[]", "\"\\ud800\"",
    ]
    let whole = texts.map { frame(Array($0.utf8)) }
    let text = Array(texts[0].utf8)
    let parts =
      frame(Array(text.prefix(9)), opcode: 1, isLast: false) + frame([1, 2], opcode: 9)
      + frame(Array(text[9..<40]), opcode: 0, isLast: false)
      + frame(Array(text[40...]), opcode: 0)
    return whole + [
      parts, frame([3, 0xE8], opcode: 8), frame([], opcode: 10), frame([1], opcode: 2),
      whole[0] + whole[1] + whole[2] + whole[4],
    ]
  }()

  private static func frame(
    _ payload: [UInt8], opcode: UInt8 = 1, isLast: Bool = true
  ) -> [UInt8] {
    let mask: [UInt8] = [1, 2, 3, 4]
    let length: [UInt8] =
      payload.count < 126
      ? [0x80 | UInt8(payload.count)]
      : [0xFE, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    return [(isLast ? 0x80 : 0) | opcode] + length + mask
      + payload.enumerated().map { $1 ^ mask[$0 % 4] }
  }

  /// What breaks parsers.
  private static let pieces: [[UInt8]] =
    [
      "\r\n", "\n", "\0", "%00", "%", "%C3%28", "..%2f", "cndl_", "\r\n\r\n",
      "Transfer-Encoding: chunked\r\n", "Content-Length: 99999999999999999999\r\n",
      "9223372036854775807", "-1", "\"", "\\u0000", "[[[[[[[[", "&symbols=", "a,a,a,a,a,a,a",
      "Upgrade: websocket\r\n", "HTTP/1.1", "Expect: 100-continue\r\n",
    ].map { Array($0.utf8) } + [[0xFF, 0xFE], [0x80], [0xC3, 0x28], [0x7F, 0xFF, 0xFF, 0xFF]]

  /// One to four changes.
  package static func mutated(
    _ bytes: [UInt8], by random: inout some RandomNumberGenerator
  ) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
      let index = Int.random(in: bytes.indices, using: &random)
      let end = min(index + Int.random(in: 1...16, using: &random), bytes.count)
      switch Int.random(in: 0..<8, using: &random) {
      case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &random)
      case 2: bytes.removeSubrange(index..<end)
      case 3: bytes.insert(contentsOf: bytes[index..<end], at: index)
      case 4:
        bytes.insert(contentsOf: pieces.randomElement(using: &random) ?? [], at: index)
      case 5:
        let count = 1 << Int.random(in: 4...13, using: &random)
        bytes.insert(contentsOf: repeatElement(bytes[index], count: count), at: index)
      case 6: bytes.removeSubrange(index...)
      default: bytes.swapAt(index, end - 1)
      }
    }
    return bytes
  }

  /// Cut once, where packets would be.
  package static func cut(
    _ bytes: [UInt8], by random: inout some RandomNumberGenerator
  ) -> [[UInt8]] {
    guard bytes.count > 1 else { return [bytes] }
    let place = Int.random(in: 1..<bytes.count, using: &random)
    return [Array(bytes[..<place]), Array(bytes[place...])]
  }
}
