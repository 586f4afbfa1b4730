import Market
import Testing

@Suite struct NameMarksTests {
  private static let names: [(String, NameMarks)] = [
    ("贵州茅台", []), ("万 科Ａ", []), ("TCL科技", []), ("GQY视讯", []), ("NCL科技", []),
    ("N佰维", .firstDay), ("N佰维-U", .firstDay), ("C思看", .firstDays), ("XD贵州茅", []),
    ("XR万科A", []), ("DR招商银", []), ("ST新梅", .specialTreatment), ("*ST海华", .specialTreatment),
    ("S*ST前锋", .specialTreatment), ("SST天海", .specialTreatment),
    ("XDST粤传", .specialTreatment), ("NST太平", [.firstDay, .specialTreatment]), ("退市海润", []),
    ("长航退", []), ("*ST退", .specialTreatment), ("寒武纪-U", []), ("九号公司-WD", []), ("Ａ-Ｂ", []),
    ("ＳＴ 新 梅", .specialTreatment), ("＊ＳＴ海华", .specialTreatment), ("Ｎ　佰维", .firstDay), ("", []),
    ("N", []), ("-", []), ("*", []), ("N-U", []),
  ]

  @Test(arguments: names)
  func `the marks in a name are read`(_ name: String, _ marks: NameMarks) {
    #expect(NameMarks.parse(name) == marks)
  }
}
