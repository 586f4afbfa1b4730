import Feeds

/// A whole response that an upstream, or something between, has sent or might send, and the class
/// it must come to. The bodies are ours, in the formats that were seen (docs/sources).
package struct HostileResponse: Sendable, CustomStringConvertible {
  package var name: String
  /// What was asked, as `Probe(_:)` reads it.
  package var requestText: String
  package var status: Int
  /// `Name: value`.
  package var headers: [String]
  package var body: [UInt8]
  /// The word of the class: `ok`, `banned`, …
  package var word: String
  /// Rows that are read and rows that are refused one by one, where the answer is one.
  package var rows: Int
  package var refusedRows: Int

  package var description: String { "\(name) (\(requestText.prefix(12)), HTTP \(status))" }

  package struct Wanted: Sendable {
    var word: String
    var rows = 0
    var refusedRows = 0

    static func ok(_ rows: Int, refused: Int = 0) -> Wanted {
      Wanted(word: "ok", rows: rows, refusedRows: refused)
    }
  }

  init(
    _ name: String, _ requestText: String, _ status: Int, _ headers: [String], _ body: [UInt8],
    _ wanted: Wanted
  ) {
    self.name = name
    self.requestText = requestText
    self.status = status
    self.headers = headers
    self.body = body
    word = wanted.word
    rows = wanted.rows
    refusedRows = wanted.refusedRows
  }

  /// All of them.
  package static func all() throws(HostileBody.Missing) -> [HostileResponse] {
    try quotes() + quoteRefusals() + klines() + references() + lists() + alpaca()
      + alpacaReferences()
  }
}

extension HostileResponse.Wanted: ExpressibleByStringLiteral {
  package init(stringLiteral word: String) { self.init(word: word) }
}

/// What stands in several responses.
enum HostileText {
  static let html = ["Content-Type: text/html; charset=utf-8"]
  static let gbk = ["Content-Type: text/html; charset=GBK"]
  static let script = ["Content-Type: application/javascript; charset=GB18030"]
  static let json = ["Content-Type: application/json; charset=utf-8"]

  /// The page of a hotel's network, with a status that says all is well.
  static let portal = Array(
    "<!DOCTYPE html><html><head><title>Welcome</title></head><body>Please log in</body></html>"
      .utf8)
  static let gateway = Array(
    "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body></body>\r\n</html>\r\n".utf8)
  static let ban = Array(
    "<html><body>你的 IP 存在异常访问(例如: 爬虫/攻击/探测 等), 已被封禁.</body></html>".utf8)

  static func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }

  /// Two bytes a character, as an editor on Windows saves.
  static func utf16(_ text: [UInt8]) -> [UInt8] { [0xFF, 0xFE] + text.flatMap { [$0, 0] } }
}
