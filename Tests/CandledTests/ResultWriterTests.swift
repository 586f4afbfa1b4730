import Market
import Testing

@testable import TerminalView

@Suite struct `Results of a query` {
  private let columns = [
    ResultColumn("symbol"), ResultColumn("name"), ResultColumn("close", alignment: .trailing),
    ResultColumn("revision", alignment: .trailing), ResultColumn("flags"),
  ]

  private func rows() throws -> [[ResultCell]] {
    [
      [
        .text("sh600519"), .text("贵州茅台"), .decimal(try ExactDecimal("1769.040")), .integer(0),
        .list([]),
      ],
      [
        .text("sz000002"), .text("万 科Ａ"), .decimal(try ExactDecimal("6.55")), .integer(12),
        .list(["no_trade", "partial"]),
      ],
      [.text("bj920000"), .null, .null, .integer(0), .list(["partial"])],
    ]
  }

  private func text(_ format: ResultFormat) throws -> String {
    ResultWriter.text(format: format, columns: columns, rows: try rows())
  }

  @Test func `line up as a table under Chinese names`() throws {
    #expect(
      try text(.table) == """
        symbol    name         close  revision  flags
        sh600519  贵州茅台  1769.040         0
        sz000002  万 科Ａ       6.55        12  no_trade partial
        bj920000  -                -         0  partial

        """)
  }

  @Test func `are CSV with a header and empty nulls`() throws {
    #expect(
      try text(.csv) == """
        symbol,name,close,revision,flags
        sh600519,贵州茅台,1769.040,0,""
        sz000002,万 科Ａ,6.55,12,no_trade partial
        bj920000,,,0,partial

        """)
  }

  @Test func `are one object a line`() throws {
    #expect(
      try text(.jsonl) == """
        {"symbol":"sh600519","name":"贵州茅台","close":"1769.040","revision":0,"flags":[]}
        {"symbol":"sz000002","name":"万 科Ａ","close":"6.55","revision":12,\
        "flags":["no_trade","partial"]}
        {"symbol":"bj920000","name":null,"close":null,"revision":0,"flags":["partial"]}

        """)
  }

  @Test func `are one JSON array that holds the lines`() throws {
    let lines = try text(.jsonl).split(separator: "\n")
    #expect(try text(.json) == "[\n" + lines.joined(separator: ",\n") + "\n]\n")
  }

  @Test(arguments: [
    (ResultFormat.table, "a  b\n"), (.csv, "a,b\n"), (.json, "[]\n"), (.jsonl, ""),
  ])
  func `may be empty`(format: ResultFormat, expected: String) {
    let columns = [ResultColumn("a"), ResultColumn("b")]
    #expect(ResultWriter.text(format: format, columns: columns, rows: []) == expected)
  }

  @Test(arguments: [
    ("a,b", #""a,b""#), (#"say "x""#, #""say ""x""""#), ("two\nlines", "\"two\nlines\""),
    ("", #""""#), ("plain", "plain"),
  ])
  func `quote a CSV field where RFC 4180 asks for it`(field: String, expected: String) {
    let text = ResultWriter.text(
      format: .csv, columns: [ResultColumn("c")], rows: [[.text(field)]])
    #expect(text == "c\n\(expected)\n")
  }

  @Test func `cannot steer the terminal`() {
    let text = ResultWriter.text(
      format: .table, columns: [ResultColumn("c")], rows: [[.text("\u{1B}[2J\u{202E}")]])
    #expect(text == "c\n\u{FFFD}[2J\u{FFFD}\n")
  }
}

@Suite struct `The width of a text on a terminal` {
  @Test(arguments: [
    ("sh600519", 8), ("贵州茅台", 8), ("万 科Ａ", 7), ("ＳＴ", 4), ("e\u{301}", 1), ("𠮷", 2),
    ("━╸─…×", 5), ("", 0), ("*ST国华", 7),
  ])
  func `counts a Chinese character twice`(text: String, width: Int) {
    #expect(DisplayWidth.of(text) == width)
  }

  @Test func `decides where a text is cut`() {
    #expect("贵州茅台".clipped(columns: 8) == "贵州茅台")
    #expect("贵州茅台".clipped(columns: 7) == "贵州茅…")
    #expect("贵州茅台".clipped(columns: 6) == "贵州…")
    #expect("贵州茅台".clipped(columns: 0) == "")
  }
}
