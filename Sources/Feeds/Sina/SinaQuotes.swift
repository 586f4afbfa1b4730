/// The quote endpoint of hq.sinajs.cn: up to 800 symbols in one request.
///
/// One token the server cannot read voids the answer for the whole batch (`sys_auth="FAILED"`), so
/// every symbol is checked against the grammar of its family before it is sent; a request that
/// would hold another one is a bug of the caller and stops the program.

import Market

package enum SinaQuotes {
  /// Symbols in one request: what easyquotation and rtq have sent for twelve years, about 7 KB of
  /// path (docs/sources/sina.md#requests).
  package static let batchSymbolsMax = 800

  /// Required since 2022-01-21; without it the answer is 403 `Kinsoku jikou desu!`.
  static let referer = "https://finance.sina.com.cn/"

  /// An index that moves all day.
  static let referenceSymbol = Symbol(low: 0x3130_3030_3030_6873, high: 0)  // sh000001

  /// A batch of 800 lines is 220 kB; twenty times that is no batch.
  package static let bodyBytesMax = 4 << 20

  /// Asks for `symbols`, in their order.
  /// - Parameter moment: goes into the path against caches between here and there; a simulator may
  ///   read its clock from it.
  /// - Precondition: 1…`batchSymbolsMax` symbols, each of which `isRequestable`.
  package static func endpoint(symbols: [Symbol], at moment: Timestamp) -> Endpoint {
    precondition((1...batchSymbolsMax).contains(symbols.count), "a batch holds 1…800 symbols")
    precondition(symbols.allSatisfy(isRequestable), "a malformed symbol would void its batch")
    let list = symbols.map(\.description).joined(separator: ",")
    return Endpoint(
      route: "/list={symbols}",
      path: "/rn=\(moment.microseconds / 1000)&list=\(list)",
      headers: [Endpoint.Header(name: "Referer", value: referer)])
  }

  /// Whether the server can read `symbol`: one of `sh|sz|bj` and six digits, `s_` before or `_i`
  /// behind those, `hk…`, `rt_hk…`, `gb_…`, `int_…`, `b_…`. Whether it *knows* the symbol, only the
  /// answer tells.
  package static func isRequestable(_ symbol: Symbol) -> Bool {
    symbol.bytes.withUnsafeBytes { SinaFamily($0) != nil }
  }
}
