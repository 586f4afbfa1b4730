import Feeds
import Market
import TestSupport
import Testing

@Suite struct NameTests {
  private func text(_ bytes: [UInt8], _ charset: NameCharset = .gb18030) -> String {
    let decoder = GB18030Decoder()
    return bytes.withUnsafeBytes { decoder.text(of: RawName(bytes: $0, charset: charset)) }
  }

  private func charset(_ bytes: [UInt8]) -> NameCharset {
    bytes.withUnsafeBytes { NameCharset.detected(in: $0) }
  }

  /// 贵州茅台 and 联通: the second is the classic of GBK text that is nearly valid UTF-8.
  private let maotai: [UInt8] = [0xB9, 0xF3, 0xD6, 0xDD, 0xC3, 0xA9, 0xCC, 0xA8]
  private let unicom: [UInt8] = [0xC1, 0xAA, 0xCD, 0xA8]
  /// 陆: C2 BD, in UTF-8 a fraction.
  private let twoByteTwin: [UInt8] = [0xC2, 0xBD]

  @Test func `names decode, four-byte characters included`() {
    #expect(text(maotai) == "贵州茅台")
    #expect(text([0x81, 0x39, 0xEE, 0x39, 0x95, 0x34, 0xB2, 0x35]) == "㐀𠮷")
    #expect(text(Array("50ETF".utf8)) == "50ETF")
    #expect(text([]).isEmpty)
  }

  @Test func `a UTF-8 name in a GB18030 body is read as UTF-8 where GB18030 fails`() {
    #expect(text(Array("茅".utf8)) == "茅")
  }

  @Test func `unreadable bytes become replacement characters and spare the rest`() {
    #expect(text(maotai.prefix(4) + [0xFF] + maotai.suffix(4)) == "贵州\u{FFFD}茅台")
    #expect(text([0xB9]) == "\u{FFFD}")
    #expect(text([0xFF, 0x41], .utf8) == "\u{FFFD}A")
  }

  @Test func `a decoder is sound after a bad name`() {
    let decoder = GB18030Decoder()
    for bytes in [[0xB9], maotai, [0x81, 0x30], maotai] as [[UInt8]] {
      let decoded = bytes.withUnsafeBytes {
        decoder.text(of: RawName(bytes: $0, charset: .gb18030))
      }
      if bytes == maotai { #expect(decoded == "贵州茅台") }
    }
  }

  @Test func `an endless name is cut`() {
    let long = [UInt8](repeating: UInt8(ascii: "A"), count: 5000)
    #expect(text(long).utf8.count == GB18030Decoder.nameBytesMax)
    #expect(text([UInt8](repeating: 0xFF, count: 5000)).unicodeScalars.count == 256)
  }

  @Test func `a body of GBK names is GB18030 though some of them are valid UTF-8`() {
    #expect(charset(twoByteTwin) == .gb18030)
    #expect(charset(twoByteTwin + Array(", ,".utf8) + twoByteTwin) == .gb18030)
    #expect(charset(unicom) == .gb18030)
    #expect(charset(twoByteTwin + maotai) == .gb18030)
    #expect(charset(Array("plain ASCII, of any length at all".utf8)) == .gb18030)
    #expect(charset([]) == .gb18030)
  }

  @Test func `a body of UTF-8 is UTF-8 though its bytes are valid GB18030`() {
    #expect(charset(Array("var hq_str_sh600519=\"贵州茅台,1\";".utf8)) == .utf8)
    #expect(charset(Array("½ 茅".utf8)) == .utf8)
  }

  @Test(
    arguments: [
      [0xE4, 0xB8], [0xC0, 0x80], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
      [0xF5, 0x80, 0x80, 0x80], [0x80], [0xFF], [0xF0, 0x9F, 0x98],
    ] as [[UInt8]])
  func `what is not well-formed UTF-8 is not taken for it`(_ bytes: [UInt8]) {
    #expect(charset(Array("茅台".utf8) + bytes) == .gb18030)
  }

  @Test func `no two-byte character of GB18030 disturbs the structure of a line`() {
    let trails = Array(0x40...0x7E as ClosedRange<UInt8>) + Array(0x80...0xFE)
    let names = (0x81...0xFE as ClosedRange<UInt8>).flatMap { lead in
      stride(from: 0, to: trails.count, by: 20).map { start in
        trails[start..<min(start + 20, trails.count)].flatMap { [lead, $0] }
      }
    }
    checkStructure(names: names)
  }

  @Test func `no four-byte character of GB18030 disturbs the structure of a line`() {
    var random = SplitMix(seed: 4)
    let names = (0..<1000).map { _ in
      (0..<8).flatMap { _ in
        [
          UInt8.random(in: 0x81...0xFE, using: &random), .random(in: 0x30...0x39, using: &random),
          .random(in: 0x81...0xFE, using: &random), .random(in: 0x30...0x39, using: &random),
        ]
      }
    }
    checkStructure(names: names)
  }

  private func checkStructure(names: [[UInt8]]) {
    var sweep = SinaSweep(seed: 3)
    let rows = names.enumerated().map { index, name in
      var row = sweep.row(index: index)
      row.name = name
      return row
    }
    let recorder = decode(rows.flatMap(SinaSweep.line)).recorder
    #expect(recorder.rawNames == names)
  }
}

@Suite struct NameCacheTests {
  private let maotai: [UInt8] = [0xB9, 0xF3, 0xD6, 0xDD, 0xC3, 0xA9, 0xCC, 0xA8]

  private func update(_ cache: inout NameCache, _ index: Int, _ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes {
      cache.update(at: index, raw: RawName(bytes: $0, charset: .gb18030))
    }
  }

  @Test func `a name is reported once and again only when it changed`() {
    var cache = NameCache()
    #expect(update(&cache, 3, maotai))
    #expect(!update(&cache, 3, maotai))
    #expect(cache.name(at: 3) == "贵州茅台")
    #expect(update(&cache, 3, Array("XD".utf8) + maotai.prefix(6)))
    #expect(cache.name(at: 3) == "XD贵州茅")
    #expect(update(&cache, 3, Array("XD".utf8)))
    #expect(cache.name(at: 0).isEmpty && cache.name(at: 99).isEmpty)
  }

  @Test func `the same bytes in another charset are another name`() {
    var cache = NameCache()
    let bytes = Array("茅台".utf8)
    let names = [NameCharset.gb18030, .utf8].map { charset in
      _ = bytes.withUnsafeBytes {
        cache.update(at: 0, raw: RawName(bytes: $0, charset: charset))
      }
      return cache.name(at: 0)
    }
    #expect(names[0] != names[1])
    #expect(names[1] == "茅台")
  }

  @Test func `a name too long to be kept is decoded each time`() {
    var cache = NameCache()
    let long = Array(String(repeating: "A", count: 100).utf8)
    #expect(update(&cache, 0, long))
    #expect(!update(&cache, 0, long))
    #expect(update(&cache, 0, Array(long.dropLast()) + [UInt8(ascii: "B")]))
    #expect(cache.name(at: 0).hasSuffix("AB"))
  }

  /// Found by `script/fuzz quotes`.
  @Test func `a name that returns after one too long to be kept is seen to change`() {
    var cache = NameCache()
    let long = [UInt8](repeating: UInt8(ascii: "A"), count: 49)
    #expect(update(&cache, 0, maotai))
    #expect(update(&cache, 0, long))
    #expect(update(&cache, 0, maotai))
    #expect(cache.name(at: 0) == "贵州茅台")
    #expect(update(&cache, 0, long))
    #expect(update(&cache, 0, []))
    #expect(cache.name(at: 0).isEmpty)
  }
}
