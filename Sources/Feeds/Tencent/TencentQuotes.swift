/// The quote endpoint of qt.gtimg.cn: up to 800 symbols in one request.
///
/// The limit is a URI of about 8 KB: 900 symbols (8,118 bytes) were answered, 950 (8,568) got HTTP
/// 414 (docs/sources/tencent.md#requests). No Referer and no key are needed.

import Market

package enum TencentQuotes {
  package static let batchSymbolsMax = 800

  /// An index that moves all day.
  static let referenceSymbol = Symbol(low: 0x3130_3030_3030_6873, high: 0)  // sh000001

  /// A batch of 800 lines is 420 kB; ten times that is no batch.
  static let bodyBytesMax = 4 << 20

  /// What is requested: the kinds whose units of volume are proven by collected lines, with those
  /// exchanges of whose instruments there are such (docs/sources/tencent.md#units). Convertible
  /// bonds, B shares, repos and Beijing's indexes are not among them.
  package static let kinds: [InstrumentKind: Set<Exchange>] = [
    .stock: [.shanghai, .shenzhen, .beijing], .fund: [.shanghai, .shenzhen],
    .index: [.shanghai, .shenzhen],
  ]

  /// Asks for `symbols`, in their order.
  /// - Precondition: 1…`batchSymbolsMax` symbols, each of which `isRequestable`.
  package static func endpoint(symbols: [Symbol], at moment: Timestamp) -> Endpoint {
    precondition((1...batchSymbolsMax).contains(symbols.count), "a batch holds 1…800 symbols")
    precondition(symbols.allSatisfy(isRequestable), "a symbol of a kind that is not requested")
    let list = symbols.map(\.description).joined(separator: ",")
    let milliseconds = moment.microseconds / 1000
    return Endpoint(route: "/q={symbols}", path: "/r=\(milliseconds)&q=\(list)", headers: [])
  }

  package static func isRequestable(_ symbol: Symbol) -> Bool {
    guard let instrument = Instrument.classify(symbol) else { return false }
    return kinds[instrument.kind]?.contains(instrument.exchange) == true
  }
}
