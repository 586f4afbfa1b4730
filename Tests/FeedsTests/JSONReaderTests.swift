import Foundation
import Market
import TestSupport
import Testing

@testable import Feeds

@Suite struct JSONReaderTests {
  /// What a reader says of a text as a whole; nil if it is well-formed.
  private func fault(_ text: [UInt8]) -> JSONFault? {
    text.withUnsafeBytes { bytes -> JSONFault? in
      do throws(JSONFault) {
        var reader = try JSONReader(bytes)
        try reader.skip()
        try reader.finish()
        return nil
      } catch {
        return error
      }
    }
  }

  private func fault(_ text: String) -> JSONFault? { fault(Array(text.utf8)) }

  private func decimal(_ literal: String) throws -> ExactDecimal {
    try Array(literal.utf8).withUnsafeBytes { bytes in
      var reader = try JSONReader(bytes)
      return try reader.readNumber().decimal()
    }
  }

  private func string(_ literal: String) throws -> String {
    try Array(literal.utf8).withUnsafeBytes { bytes in
      var reader = try JSONReader(bytes)
      return try reader.readString().text
    }
  }

  @Test(arguments: [
    "0", "-0", "10", "-1.50", "1e5", "1E+5", "8.5e-06", "true", "false", "null", "\"\"", "[]",
    "{}", " [ 1 , [ ] , { \"a\" : [ null ] } ] \r\n\t", #"{"a":1,"a":2,"":{}}"#, "\u{FEFF}[]",
    #""\"\\\/\b\f\n\r\t\u4e2d\ud840\udc00""#, "\"万 科Ａ\"",
  ])
  func `a well-formed text is accepted`(_ text: String) {
    #expect(fault(text) == nil)
  }

  @Test(arguments: [
    ("", 0), ("  ", 2), ("[", 1), ("[1", 2), ("[1,", 3), ("[1,]", 3), ("[,1]", 1), ("[1 2]", 3),
    ("{\"a\"}", 4), ("{\"a\":}", 5), ("{\"a\":1,}", 7), ("{a:1}", 1), ("[1}", 2), ("01", 2),
    ("-", 1), ("-a", 1), ("1.", 2), ("1.e5", 2), ("1e", 2), (".5", 0), ("+1", 0), ("NaN", 0),
    ("Infinity", 0), ("tru", 0), ("nulL", 0), ("1 2", 2), ("'a'", 0), ("\"a", 2), ("\"\\x\"", 1),
    ("\"\\", 1), ("\"\\u12\"", 1), ("\"\\ud840\"", 1), ("\"\\ud840\\u0041\"", 1),
    ("\"\\udc00\"", 1), ("\"\n\"", 1), ("[1]//", 3), ("/**/1", 0),
  ])
  func `a malformed text is refused where it goes wrong`(_ text: String, _ offset: Int) {
    #expect(fault(text)?.offset == offset)
  }

  @Test func `a string that is not UTF-8 is refused`() {
    #expect(fault([0x22, 0xC6, 0xBD, 0xB0, 0xB2, 0x22])?.reason == .notUTF8)
  }

  @Test func `as many levels as the bound are read and one more is refused`() {
    let deepest = JSONReader.depthMax
    func nested(_ levels: Int) -> String {
      String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }
    #expect(fault(nested(deepest)) == nil)
    #expect(fault(nested(deepest + 1)) == JSONFault(reason: .tooDeep, offset: deepest + 1))
    #expect(fault(String(repeating: "{\"a\":[", count: 100_000))?.reason == .tooDeep)
  }

  @Test(arguments: [
    ("3379.5241", "3379.5241"), ("324.786206", "324.786206"),
    ("4393.9907155981", "4393.9907155981"), ("174", "174"), ("1769.040", "1769.040"),
    ("8.5e-06", "0.0000085"), ("1e3", "1000"), ("1.50E1", "15.0"), ("1.5e0", "1.5"),
    ("-2.5e-1", "-0.25"), ("0e999999999999999999999", "0"), ("10e-19", "0.000000000000000001"),
    ("9223372036854775807", "9223372036854775807"), ("-0", "0"),
  ])
  func `a number becomes the decimal its literal says`(_ literal: String, _ text: String) throws {
    #expect(try decimal(literal).description == text)
  }

  @Test(arguments: [
    "9223372036854775808", "1e19", "1e-19", "1e999999999999999999999", "1e-1000000",
    "0.1234567890123456789", "12e18",
  ])
  func `a number with more digits than fit is reported and never rounded`(_ literal: String) {
    #expect(throws: JSONFault(reason: .numberBeyondRange, offset: 0)) { try decimal(literal) }
    #expect(fault(literal) == nil)
  }

  @Test(arguments: [("12", 12), ("1.2e1", 12), ("12.00", 12), ("-7", -7)])
  func `a whole number is whole however it is written`(_ literal: String, _ value: Int64) throws {
    let whole = try Array(literal.utf8).withUnsafeBytes { bytes in
      var reader = try JSONReader(bytes)
      return try reader.readNumber().whole
    }
    #expect(whole == value)
  }

  @Test func `escapes are undone`() throws {
    #expect(try string(#""a\"\\\/\n\u5e73\u5B89\ud840\udc00z""#) == "a\"\\/\n平安𠀀z")
    #expect(try string(#""万 科Ａ""#) == "万 科Ａ")
  }

  @Test func `a key is recognised in plain spelling and in escapes`() throws {
    let text = Array(#"{"bars":1,"b\u0061rs":2,"bar":3}"#.utf8)
    let found = try text.withUnsafeBytes { bytes in
      var reader = try JSONReader(bytes)
      var found: [Int64?] = []
      try reader.openObject()
      while let key = try reader.nextKey() {
        switch key {
        case "bars": found.append(try reader.readNumber().whole)
        default: try reader.skip()
        }
      }
      try reader.finish()
      return found
    }
    #expect(found == [1, 2])
  }
}

/// The reader against an independent one, and against damage.
@Suite struct JSONReaderPropertyTests {
  private func isAccepted(_ text: [UInt8]) -> Bool {
    text.withUnsafeBytes { bytes in
      do throws(JSONFault) {
        var reader = try JSONReader(bytes)
        try reader.skip()
        try reader.finish()
        return true
      } catch {
        return false
      }
    }
  }

  /// Foundation goes by way of binary numbers, so only its yes or no counts.
  private func isAcceptedByFoundation(_ text: [UInt8]) -> Bool {
    (try? JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)) != nil
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `every valid document is accepted, as Foundation does`(_ seed: UInt64) {
    var random = SplitMix(seed: seed)
    for round in 0..<250 {
      let text = JSONSample.document(&random)
      #expect(isAccepted(text), "seed \(seed), round \(round)")
      #expect(isAcceptedByFoundation(text), "seed \(seed), round \(round)")
    }
  }

  @Test(arguments: 11...18 as ClosedRange<UInt64>)
  func `a document with a flipped bit is accepted or refused as by Foundation`(_ seed: UInt64) {
    var random = SplitMix(seed: seed)
    for round in 0..<1_000 {
      var text = JSONSample.document(&random)
      for _ in 0..<Int.random(in: 1...2, using: &random) {
        let place = Int.random(in: 0..<text.count, using: &random)
        text[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
      }
      let accepted = isAccepted(text)
      if accepted != isAcceptedByFoundation(text) {
        Issue.record(
          "seed \(seed), round \(round): \(accepted), \(String(decoding: text, as: UTF8.self))")
      }
    }
  }

  @Test(arguments: 21...24 as ClosedRange<UInt64>)
  func `no prefix of a container is accepted and none traps`(_ seed: UInt64) {
    var random = SplitMix(seed: seed)
    for round in 0..<40 {
      let text = [UInt8(ascii: "[")] + JSONSample.document(&random) + [UInt8(ascii: "]")]
      for cut in 0..<text.count {
        #expect(!isAccepted(Array(text.prefix(cut))), "seed \(seed), round \(round), cut \(cut)")
      }
      #expect(isAccepted(text), "seed \(seed), round \(round)")
    }
  }
}

/// Made-up documents in every spelling the grammar knows.
enum JSONSample {
  static func document(_ random: inout SplitMix) -> [UInt8] {
    Array(value(&random, levels: 4).utf8)
  }

  private static func value(_ random: inout SplitMix, levels: Int) -> String {
    switch Int.random(in: 0..<(levels > 0 ? 10 : 6), using: &random) {
    case 0: return ["true", "false", "null"].randomElement(using: &random) ?? "null"
    case 1...3: return number(&random)
    case 4, 5: return string(&random)
    case 6, 7: return list(&random, "[", "]") { value(&$0, levels: levels - 1) }
    default:
      return list(&random, "{", "}") { random in
        string(&random) + blank(&random) + ":" + blank(&random)
          + value(&random, levels: levels - 1)
      }
    }
  }

  private static func list(
    _ random: inout SplitMix, _ opening: String, _ closing: String,
    _ element: (inout SplitMix) -> String
  ) -> String {
    let elements = (0..<Int.random(in: 0...4, using: &random)).map { _ in
      blank(&random) + element(&random) + blank(&random)
    }
    return opening + elements.joined(separator: ",") + (elements.isEmpty ? blank(&random) : "")
      + closing
  }

  private static func number(_ random: inout SplitMix) -> String {
    var text = Bool.random(using: &random) ? "" : "-"
    text += String(Int.random(in: 0...99_999, using: &random))
    if Bool.random(using: &random) { text += ".\(Int.random(in: 0...9_999, using: &random))" }
    if Int.random(in: 0..<4, using: &random) == 0 {
      text += ["e", "E"].randomElement(using: &random) ?? "e"
      text += ["", "+", "-"].randomElement(using: &random) ?? ""
      text += "\(Int.random(in: 0...9, using: &random))"
    }
    return text
  }

  private static func string(_ random: inout SplitMix) -> String {
    let pieces = [
      "a", "Z", "9", " ", "/", "平", "é", "𠀀", #"\n"#, #"\""#, #"\\"#, #"\/"#, #"\u5e73"#,
      #"\ud840\udc00"#, #"\b\f\r\t"#,
    ]
    let count = Int.random(in: 0...6, using: &random)
    return "\"" + (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      + "\""
  }

  private static func blank(_ random: inout SplitMix) -> String {
    ["", "", "", " ", "\n", "\t ", "\r\n"].randomElement(using: &random) ?? ""
  }
}
