import Glibc
import Hostile
import Market

@testable import Feeds
@testable import Operations

/// Every value of a text is read, skipped and read again; both ways end at the same place.
enum JSONTarget {
  static func take(_ bytes: UnsafeRawBufferPointer) {
    let walked = try? end(of: bytes) { (reader: inout JSONReader) throws(JSONFault) in
      try walk(&reader, depth: 0)
    }
    let skipped = try? end(of: bytes) { (reader: inout JSONReader) throws(JSONFault) in
      try reader.skip()
    }
    guard walked == skipped else {
      fatalError("walked to \(walked ?? -1), skipped to \(skipped ?? -1)")
    }
  }

  static func end(
    of bytes: UnsafeRawBufferPointer, _ read: (inout JSONReader) throws(JSONFault) -> Void
  ) throws(JSONFault) -> Int {
    var reader = try JSONReader(bytes)
    try read(&reader)
    guard reader.offset <= bytes.count else { fatalError("read behind the end") }
    return reader.offset
  }

  private static func walk(_ reader: inout JSONReader, depth: Int) throws(JSONFault) {
    switch try reader.peek() {
    case .object:
      try reader.openObject()
      while let key = try reader.nextKey() {
        check(key)
        try walk(&reader, depth: depth + 1)
      }
    case .array:
      try reader.openArray()
      while try reader.nextElement() { try walk(&reader, depth: depth + 1) }
    default: check(try reader.readValue())
    }
  }

  private static func check(_ value: JSONValue) {
    if let text = value.string { check(text) }
    guard let number = value.number else { return }
    if let whole = number.whole, let decimal = try? number.decimal(),
      decimal != ExactDecimal(whole)
    {
      fatalError("\(whole) is \(decimal)")
    }
  }

  private static func check(_ text: JSONString) {
    let read = text.text
    guard text.hasEscapes || Array(read.utf8).elementsEqual(text.bytes) else {
      fatalError("a text that is not its bytes")
    }
  }
}

/// A name alone, and beside others in one cache, in both charsets.
enum NameTarget {
  static let seeds: [[UInt8]] = [
    [0xB9, 0xF3, 0xD6, 0xDD, 0xC3, 0xA9, 0xCC, 0xA8], [0x81, 0x39, 0xEE, 0x39],
    [0x95, 0x34, 0xB2, 0x35], Array("贵州茅台".utf8), Array("*ST X\u{FFFD}".utf8), [0x80, 0xFF],
    Array("A\n\(String(repeating: "B", count: 60))\nA".utf8),
  ]

  static func take(_ bytes: UnsafeRawBufferPointer) {
    let decoder = GB18030Decoder()
    var cache = NameCache()
    for part in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      let raw = RawName(bytes: UnsafeRawBufferPointer(rebasing: part), charset: .gb18030)
      cache.update(at: 0, raw: raw)
      guard cache.name(at: 0) == decoder.text(of: raw) else {
        fatalError("the cache reads another name than was there")
      }
    }
    for charset in [NameCharset.gb18030, .utf8, NameCharset.detected(in: bytes)] {
      let raw = RawName(bytes: bytes, charset: charset)
      let text = decoder.text(of: raw)
      guard text == decoder.text(of: raw) else { fatalError("two readings of one name") }
      guard text.utf8.count <= 3 * GB18030Decoder.nameBytesMax else { fatalError("too long") }
      cache.update(at: 1, raw: raw)
      guard cache.name(at: 1) == text else { fatalError("the cache reads another name") }
    }
  }
}

/// A file of settings: each problem has a sentence, and what is accepted keeps every rule.
enum ConfigurationTarget {
  static let seeds: [[UInt8]] = [
    Array("journal.path = \"/tmp/j\"\n[sina]\nbase = \"http://127.0.0.1:1\"\n".utf8),
    Array(
      "[alpaca]\nsymbols = [\"AAPL\", \"MSFT\"]\n[[a]]\nb = { c = 1.5, d = 1979-05-27 }\n".utf8),
    Array("x = '''\nmulti\n'''\n\"quoted key\" = \"\\u00e9\\n\"\nf = inf\nd = 0xDEAD_BEEF\n".utf8),
    sample,
  ]

  /// The sample in `config/`, which every setting is in.
  private static var sample: [UInt8] {
    let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
    let path = parts.joined(separator: "/") + "/config/candled.toml"
    guard let text = try? ConfigurationFile.read(path) else { fatalError("no \(path)") }
    return Array(
      text.split(separator: "\n").map { $0.hasPrefix("# ") ? $0.dropFirst(2) : $0 }
        .joined(separator: "\n").utf8)
  }

  static func take(_ bytes: UnsafeRawBufferPointer) {
    guard let text = String(validating: bytes, as: UTF8.self) else { return }
    do throws(ConfigurationError) {
      _ = try ConfigurationFile.parse(text, origin: "fuzz")
    } catch {
      guard !error.problems.isEmpty else { fatalError("refused for nothing") }
      let lines = text.utf8.count { $0 == UInt8(ascii: "\n") } + 1
      for problem in error.problems {
        guard !problem.sentence.isEmpty else { fatalError("a problem without a sentence") }
        guard (1...lines + 1).contains(problem.line ?? 1) else {
          fatalError("line \(problem.line ?? 0) of \(lines)")
        }
      }
    }
  }
}
