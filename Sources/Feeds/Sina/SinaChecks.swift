/// What candled counts on of Sina's services (docs/sources/sina.md).

import Market

extension Sina {
  private static let known = ["sh600519", "sh601398", "sh688981", "sz000001", "sz300750"]

  package var checks: [SourceCheck] {
    // Shanghai's lines end with an empty field, Beijing's with six of their own.
    SourceCheck.quotes(
      QuoteChecks(
        separator: ",", fields: [("sh", 34...34), ("sz", 33...34), ("bj", 39...39)],
        unknownSymbol: "sh999999", unknown: .emptyLine, known: Sina.known,
        filler: QuoteChecks.shanghaiStock))
      // An index has a bar for any time, a stock has turnover beside it.
      + SourceCheck.newestBars(
        of: [(.reference, .minute15), (.reference, .day1), (.stock, .minute1)], known: Sina.known)
      + [
        SourceCheck.factors(known: Sina.known),
        // The next year's days appear in late December.
        SourceCheck.tradingDays(aheadDaysMin: 3),
        // 5,316 shares of all three exchanges, some 600 on STAR, some 290 in Beijing.
        SourceCheck.pagedList(
          SinaNode.aShares.part, sizes: 4_500...8_000, pageRows: SinaNode.pageRows),
        SourceCheck.pagedList(
          SinaNode.beijing.part, sizes: 150...1_500, pageRows: SinaNode.pageRows),
      ]
  }
}
