/// Tencent: live quotes of the mainland exchanges, without a key (docs/sources/tencent.md).
///
/// Its K-lines are left out: they say nothing that the first live source does not, and theirs are
/// in lots.

import Market

package struct Tencent: LiveQuotesSource {
  static let source = Source(rawValue: 5)

  package let name = "tencent"
  package let title = "Tencent"
  package let market = MarketDefinition.mainlandChina
  package let settings = TencentSettings.section
  package let series = [SourceSeries(Tencent.source, name: "tencent", instruments: .live)]
  package let priority = 2
  package let quotes: QuotesDeclaration? = QuotesDeclaration(
    base: TencentSettings.base, batchSymbols: TencentSettings.batchSymbols,
    requestsPerMinute: TencentSettings.requestsPerMinute,
    referenceSymbol: TencentQuotes.referenceSymbol, bodyBytesMax: TencentQuotes.bodyBytesMax,
    hasRefreshStamps: true, isRequestable: TencentQuotes.isRequestable,
    kinds: TencentQuotes.kinds, fields: (UInt8(ascii: "~"), [87, 88]),
    endpoint: TencentQuotes.endpoint,
    makeDecoder: { TencentQuoteDecoder(on: $0) })
}
