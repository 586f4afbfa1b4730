import Market
import TestSupport
import Testing

@testable import Feeds

/// Names go to terminals, into psql and web pages: nothing in them may be obeyed there.
@Suite struct NameTextTests {
  /// What is taken out, a sample of each kind: U+ number and why.
  private static let stripped: [(UInt32, String)] = [
    (0x00, "NUL, which PostgreSQL refuses"), (0x07, "bell"), (0x08, "backspace"), (0x09, "tab"),
    (0x0A, "line feed"), (0x0D, "carriage return"), (0x1B, "ESC"), (0x7F, "DEL"),
    (0x85, "next line"), (0x9B, "CSI"), (0x9D, "OSC"), (0xAD, "soft hyphen"),
    (0x061C, "Arabic letter mark"), (0x200B, "zero width space"), (0x200D, "zero width joiner"),
    (0x200E, "left-to-right mark"), (0x200F, "right-to-left mark"), (0x2028, "line separator"),
    (0x2029, "paragraph separator"), (0x202A, "embedding"), (0x202C, "pop"), (0x202E, "override"),
    (0x2060, "word joiner"), (0x2066, "isolate"), (0x2069, "pop isolate"),
    (0xFEFF, "byte order mark"), (0xFFF9, "annotation"), (0xE0041, "tag"),
  ]

  @Test func `controls and format characters are taken out`() throws {
    for (number, what) in Self.stripped {
      let scalar = try #require(Unicode.Scalar(number))
      #expect(NameText.clean("万 \(Character(scalar))科Ａ") == "万 科Ａ", "\(what)")
    }
    #expect(NameText.clean("\u{1B}[31m贵州\u{9B}2J茅台\u{7}") == "[31m贵州2J茅台")
  }

  @Test(arguments: [
    "", "万 科Ａ", "万　科Ａ", "*ST海华-U", "XD贵州茅", "Ｎ科隆", "S&P 500® Índex — 50%", "㐀𠮷",
    "葛\u{E0100}城", "贵州\u{FFFD}茅台", "\u{E5E5}",
  ])
  func `a name as exchanges write it stays as it is`(_ name: String) {
    #expect(NameText.clean(name).unicodeScalars.elementsEqual(name.unicodeScalars))
  }

  @Test func `a quote's name is clean in either charset`() {
    let decoder = GB18030Decoder()
    let plain: [UInt8] = [0x1B, 0x5B, 0x00, 0xB9, 0xF3, 0x08, 0x7F]
    let text = plain.withUnsafeBytes {
      decoder.text(of: RawName(bytes: $0, charset: .gb18030))
    }
    #expect(text == "[贵")
    let utf8 = Array("茅\u{202E}台\u{9B}".utf8).withUnsafeBytes {
      decoder.text(of: RawName(bytes: $0, charset: .utf8))
    }
    #expect(utf8 == "茅台")
  }

  private func names(_ request: FeedRequest, _ body: String) throws -> [String] {
    let response = Array(body.utf8).withUnsafeBytes {
      FeedResponse.decode(request, status: 200, body: $0)
    }
    guard case .list(let list) = response else { throw MissingFile(path: "\(response)") }
    #expect(list.refused.isEmpty)
    return list.rows.map(\.name)
  }

  private static let escaped = #"\u001b[31m万 \u0000\u0008\u202e科Ａ\u009b"#

  @Test func `a list's names are clean, whoever sends it`() throws {
    #expect(
      try names(.mairuiList(.hslt), #"[{"dm":"000002.SZ","mc":"\#(Self.escaped)","jys":"SZ"}]"#)
        == ["[31m万 科Ａ"])
    let asset =
      #"[{"symbol":"AAPL","name":"\#(Self.escaped)","class":"us_equity","status":"active","#
      + #""tradable":true}]"#
    #expect(try names(.alpacaAssets, asset) == ["[31m万 科Ａ"])
    let page = #"[{"symbol":"sz000002","code":"000002","name":"\#(Self.escaped)"}]"#
    let list = try Array(page.utf8).withUnsafeBytes {
      try SinaNodes.decodePage($0, status: 200)
    }
    #expect(list.refused.isEmpty && list.rows.map(\.name) == ["[31m万 科Ａ"])
  }

  @Test func `a name of a list that is nothing else is none`() throws {
    let page = #"[{"symbol":"sz000002","code":"000002","name":"\u001b\u202e "}]"#
    let list = try Array(page.utf8).withUnsafeBytes {
      try SinaNodes.decodePage($0, status: 200)
    }
    #expect(list.rows.map(\.name) == [""] && list.dropped.map(\.member) == [.name])
  }
}
