import ExchangeSimulator

extension GB18030 {
  /// A whole body as UTF-8.
  package static func decodedToUTF8(_ body: [UInt8]) -> [UInt8]? {
    converted(body, to: "UTF-8", from: "GB18030")
  }
}
