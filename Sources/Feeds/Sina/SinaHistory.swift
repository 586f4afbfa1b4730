/// What the requests for Sina's history have in common.

import Market

package enum SinaHistory {
  /// The same headers as for quotes: without it a request may be answered 403
  /// (docs/sources/sina.md#requests).
  static let headers = [Endpoint.Header(name: "Referer", value: SinaQuotes.referer)]

  /// Whether K-lines and factors can be asked of `symbol`: `sh`, `sz` or `bj` and six digits.
  package static func isRequestable(_ symbol: Symbol) -> Bool {
    symbol.bytes.withUnsafeBytes { bytes in
      if case .full = SinaFamily(bytes) { true } else { false }
    }
  }

  /// nil unless `text` is a symbol that `isRequestable`.
  static func symbol(_ text: Substring) -> Symbol? {
    Symbol(text).flatMap { isRequestable($0) ? $0 : nil }
  }
}
