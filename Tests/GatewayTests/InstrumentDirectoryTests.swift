import Market
import Reader
import Testing

@testable import Gateway

@Suite struct InstrumentDirectoryTests {
  private static let live = Source.live
  private static let other = Source(rawValue: 4)

  static func record(
    _ id: Int32, _ symbol: String, name: String?, source: Source = .live, priority: Int16 = 1
  ) throws -> SeriesRecord {
    SeriesRecord(
      id: id, symbol: try #require(Symbol(symbol)), source: source,
      sourceName: "source\(source.rawValue)", priority: priority, name: name, exchange: nil,
      kind: nil, board: nil, currency: "CNY", zone: .shanghai)
  }

  private func directory() throws -> InstrumentDirectory {
    InstrumentDirectory().updated(with: [
      try Self.record(1, "sh600519", name: "贵州茅台"), try Self.record(2, "sz000001", name: "平安银行"),
      try Self.record(3, "sh000001", name: "上证指数"), try Self.record(4, "sz000100", name: "ＴＣＬ 科技"),
      try Self.record(5, "AAPL", name: "Apple Inc.", source: Self.other, priority: 3),
      try Self.record(6, "AAPL", name: "Apple Inc.", source: Source(rawValue: 3), priority: 2),
    ])
  }

  @Test(
    "every usual spelling finds its series",
    arguments: [
      ("sh600519", 1), ("SH600519", 1), ("600519.SH", 1), ("600519.ss", 1), ("600519.XSHG", 1),
      ("000001.xshe", 2), ("600519", 1), ("aapl", 6), ("AAPL", 6),
    ])
  func spellings(spelling: String, id: Int32) throws {
    let directory = try directory()
    let place = try #require(directory.place(spelling: spelling))
    #expect(directory[place].id == id)
  }

  @Test(
    "an ambiguous or unknown spelling finds nothing",
    arguments: ["000001", "", "sh600518", "600519.SX", "💥", "sh600519sh600519sh600519"])
  func noSeries(spelling: String) throws {
    #expect(try directory().place(spelling: spelling) == nil)
  }

  @Test("a named source has its own series")
  func namedSource() throws {
    let directory = try directory()
    let place = try #require(directory.place(spelling: "aapl", source: "source4"))
    #expect(directory[place].id == 5)
    #expect(directory.place(spelling: "sh600519", source: "source4") == nil)
  }

  @Test(
    "search finds codes, names and initials",
    arguments: [
      ("6005", ["sh600519"]), ("茅台", ["sh600519"]), ("gzmt", ["sh600519"]), ("GZ", ["sh600519"]),
      ("TCL科", ["sz000100"]), ("tclkj", ["sz000100"]), ("0000", ["sh000001", "sz000001"]),
      ("apple", ["AAPL", "AAPL"]), ("", []), ("zzz", []),
    ])
  func search(text: String, symbols: [String]) throws {
    let directory = try directory()
    let found = directory.search(text, limit: 20).map { directory[$0].symbol.description }
    #expect(found == symbols)
  }

  @Test(
    "initials are found by each reading that a character has, in any combination",
    arguments: [
      ("招商银行", ["zsyh", "zsyx", "zsy"]), ("长江电力", ["cjdl", "zjdl"]),
      ("长安汽车", ["caqc", "ca"]), ("重庆啤酒", ["cqpj", "zqpj", "cq"]), ("厦门国贸", ["xmgm", "smgm"]),
      ("重庆银行", ["cqyh", "zqyx", "cqyx"]), ("乐普医疗", ["lpyl"]), ("曾单", ["zs", "cd", "zd"]),
    ])
  func polyphones(name: String, initials: [String]) throws {
    let directory = InstrumentDirectory().updated(with: [
      try Self.record(1, "sh600036", name: name)
    ])
    for text in initials { #expect(directory.search(text).count == 1, "\(text)") }
    #expect(directory.search(initials[0] + "z").isEmpty)
    #expect(directory.search("q" + initials[0].dropFirst()).isEmpty)
  }

  @Test("each character of the table of readings is in it once, and adds a reading")
  func tableOfReadings() {
    let characters = PinyinInitials.polyphones.flatMap(\.value)
    #expect(Set(characters).count == characters.count && characters.count > 150)
    for (letters, characters) in PinyinInitials.polyphones {
      #expect(Set(letters).count > 1 || letters.count > 1, "\(letters)")
      for character in characters {
        for letter in letters {
          #expect(PinyinInitials(of: String(character)).begin(with: String(letter)))
        }
      }
    }
  }

  @Test("search gives no more than the limit")
  func limit() throws {
    #expect(try directory().search("0000", limit: 1).count == 1)
  }

  @Test("the nearest symbols of a mistyped one are named")
  func nearest() throws {
    #expect(try directory().nearest(to: "sh600591").first == "sh600519")
    #expect(try directory().nearest(to: "AALP") == ["AAPL"])
    #expect(try directory().nearest(to: "somethingelse").isEmpty)
  }

  @Test("an old code is answered with the code of today, and found once")
  func oldCode() throws {
    let (other, new) = (Source(rawValue: 4), "bj920819")
    var old = try Self.record(1, "bj833819", name: "颖泰生物")
    old.today = Symbol(new)
    let directory = InstrumentDirectory().updated(with: [
      old, try Self.record(2, new, name: "颖泰生物"),
      try Self.record(3, new, name: "颖泰生物", source: other, priority: 3),
    ])
    for spelling in ["bj833819", "833819.BJ", "833819", new] {
      #expect(directory.place(spelling: spelling).map { directory[$0].id } == 2)
    }
    #expect(directory.meant(by: try #require(Symbol("bj833819"))).map { directory[$0].id } == 2)
    #expect(directory.search("颖泰").map { directory[$0].id } == [2, 3])
    #expect(directory.search("833819").map { directory[$0].id } == [2])
    // A candle of the old code is its own.
    let own = directory.place(of: try #require(Symbol("bj833819")), source: .live)
    #expect(own.map { directory[$0].id } == 1)
  }

  @Test("places stay when series come, go and are renamed")
  func placesStay() throws {
    let first = try directory()
    let place = try #require(first.place(spelling: "sz000001"))
    let second = first.updated(with: [
      try Self.record(9, "sz000002", name: "万科"), try Self.record(12, "sz000001", name: "XD平安银"),
    ])
    #expect(second.place(spelling: "sz000001") == place)
    #expect(second[place].id == 12)
    #expect(second.search("xd", limit: 5) == [place])
    #expect(second.place(spelling: "sh600519") == nil)
    #expect(second.nearest(to: "sh600519").isEmpty)
    #expect(second.places.count == 2)
  }
}
