/// The symbols of the sample configuration: what somebody who looks at the market for the first
/// time expects to find. Lines of a TOML list.

enum ExampleSymbols {
  static let market = lines([
    (
      "indexes",
      """
      sh000001 sh000016 sh000300 sh000688 sh000852 sh000905 sz399001 sz399006 bj899050
      """
    ),
    (
      "Shanghai",
      """
      sh600519 sh601318 sh600036 sh601398 sh601288 sh601939 sh601988 sh601166 sh600030 sh600900
      sh601857 sh600028 sh601088 sh601899 sh600941 sh600276 sh600887 sh600690 sh600309 sh601012
      sh603259 sh601668 sh601138 sh600050
      """
    ),
    ("STAR", "sh688981 sh688111 sh688012 sh688041 sh688256"),
    (
      "Shenzhen",
      """
      sz000001 sz000002 sz000333 sz000651 sz000858 sz000725 sz002415 sz002475 sz002594 sz002714
      """
    ),
    ("ChiNext", "sz300750 sz300059 sz300760 sz300124 sz300274"),
    ("Beijing", "bj920982 bj920185"),
    ("funds", "sh510050 sh510300 sh510500 sh512880 sh518880 sh588000 sz159915 sz159919"),
  ])

  static let overview = lines([
    ("New York", "gb_$dji gb_$ixic gb_$inx"), ("Hong Kong", "rt_hkHSI rt_hkHSTECH"),
  ])

  private static let symbolsPerLine = 8

  private static func lines(_ groups: [(title: String, symbols: String)]) -> [String] {
    groups.flatMap { group in
      let symbols = group.symbols.split { $0 == " " || $0 == "\n" }.map { "\"\($0)\"," }
      let rows = stride(from: 0, to: symbols.count, by: symbolsPerLine).map { start in
        symbols[start..<min(start + symbolsPerLine, symbols.count)].joined(separator: " ")
      }
      return ["# \(group.title)"] + rows
    }
  }
}
