/// What candled counts on of Tencent's service (docs/sources/tencent.md).

import Market

extension Tencent {
  package var checks: [SourceCheck] {
    // 87 fields until early 2026, 88 since. An unknown symbol has no line.
    SourceCheck.quotes(
      QuoteChecks(
        separator: "~", fields: [("", 87...88)], unknownSymbol: "sh605999", unknown: .absent,
        known: ["sh600519", "sh601398", "sh688981", "sz000001", "sz300750"],
        filler: QuoteChecks.shanghaiStock))
  }
}
