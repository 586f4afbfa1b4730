import Market
import Testing

@Suite struct NameMarksTests {
  private static let names: [(String, NameMarks)] = [
    ("贵州茅台", []), ("万 科Ａ", []), ("TCL科技", []), ("GQY视讯", []), ("NCL科技", []),
    ("N佰维", .firstDay), ("N佰维-U", [.firstDay, .unprofitable]), ("C思看", .firstDays),
    ("XD贵州茅", .exDividend), ("XR万科A", .exRights), ("DR招商银", [.exDividend, .exRights]),
    ("ST新梅", .specialTreatmentMark), ("*ST海华", [.specialTreatmentMark, .delistingRisk]),
    ("S*ST前锋", [.specialTreatmentMark, .delistingRisk]), ("SST天海", .specialTreatmentMark),
    ("XDST粤传", [.exDividend, .specialTreatmentMark]),
    ("NST太平", [.firstDay, .specialTreatmentMark]), ("退市海润", .delisting),
    ("长航退", .delisting), ("*ST退", [.specialTreatmentMark, .delistingRisk, .delisting]),
    ("寒武纪-U", .unprofitable), ("优刻得-W", .weightedVotes), ("九号公司-WD", .weightedVotes),
    ("云从科技-UW", [.unprofitable, .weightedVotes]), ("Ａ-Ｂ", []),
    ("ＳＴ 新 梅", .specialTreatmentMark), ("＊ＳＴ海华", [.specialTreatmentMark, .delistingRisk]),
    ("寒武纪－Ｕ", .unprofitable), ("Ｎ　佰维", .firstDay), ("", []), ("N", []), ("-", []), ("*", []),
  ]

  @Test(arguments: names)
  func `the marks in a name are read`(_ name: String, _ marks: NameMarks) {
    #expect(NameMarks.parse(name) == marks)
  }

  @Test func `N and C both mean a new listing`() {
    #expect(NameMarks.parse("N佰维").newListing)
    #expect(NameMarks.parse("C佰维").newListing)
    #expect(!NameMarks.parse("佰维存储").newListing)
  }

  @Test func `ST and its star both mean special treatment`() {
    #expect(NameMarks.parse("ST新梅").specialTreatment)
    #expect(NameMarks.parse("*ST新梅").specialTreatment)
    #expect(!NameMarks.parse("新梅").specialTreatment)
  }
}
