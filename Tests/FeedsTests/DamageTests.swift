import Market
import TestSupport
import Testing

@testable import Feeds

/// Bytes cut, flipped and overwritten: nothing traps, nothing is invented, neighbours stay.
@Suite struct DamageTests {
  private let inLines = "0123456789.,-\"|;"

  private func records(_ body: [UInt8], careful: Bool) -> [Record] {
    var decoder = SinaQuoteDecoder(skipsPlainWay: careful)
    var recorder = Recorder()
    _ = body.withUnsafeBytes { decoder.decode($0, status: 200, into: &recorder) }
    return recorder.records
  }

  @Test(arguments: ["stocks", "session", "overview", "unknown"])
  func `every prefix of a body yields its whole lines and at most one rejection`(
    _ name: String
  ) throws {
    let body = try Files.fixture("\(name).gb18030.txt")
    let whole = decode(body).recorder.records
    for cut in 0..<body.count {
      let prefix = Array(body.prefix(cut))
      let complete = prefix.filter { $0 == 10 }.count
      let records = decode(prefix).recorder.records
      #expect(records.prefix(complete) == whole.prefix(complete), "cut at \(cut)")
      let rest = Array(records.dropFirst(complete))
      if body[cut] == 10 {
        #expect(rest == [whole[complete]], "cut at \(cut), before a line feed")
      } else if let torn = rest.first, rest.count == 1 {
        guard case .rejected(_, .malformed, _, _) = torn else {
          Issue.record("cut at \(cut): \(torn)")
          continue
        }
      } else {
        #expect(rest.isEmpty, "cut at \(cut)")
      }
    }
  }

  /// 1,000 bodies of 100 damaged lines, each between two whole ones.
  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `a damaged line never harms its neighbours`(_ seed: UInt64) {
    var random = SplitMix(seed: seed)
    var sweep = SinaSweep(seed: seed)
    let lines = (0..<201).map { SinaSweep.line(sweep.row(index: $0)) }
    let wanted = decode(lines.flatMap { $0 }).recorder.records
    for round in 0..<100 {
      let body = lines.enumerated().flatMap { index, line in
        index % 2 == 1 ? random.damaged(line, alphabet: inLines) : line
      }
      let records = records(body, careful: false)
      var next = 0
      for index in stride(from: 0, through: 200, by: 2) {
        while next < records.count, records[next] != wanted[index] { next += 1 }
        if next == records.count {
          Issue.record("seed \(seed), round \(round): line \(index) was lost")
          return
        }
      }
    }
  }

  @Test(arguments: 11...14 as ClosedRange<UInt64>)
  func `the plain and the careful way agree on damaged lines`(_ seed: UInt64) {
    var random = SplitMix(seed: seed)
    var sweep = SinaSweep(seed: seed)
    let lines = (0..<100).map { SinaSweep.line(sweep.row(index: $0)) }
    for round in 0..<25 {
      let body = lines.flatMap { random.damaged($0, alphabet: inLines) }
      let plain = records(body, careful: false)
      let careful = records(body, careful: true)
      #expect(plain.count == careful.count, "seed \(seed), round \(round)")
      for (one, other) in zip(plain, careful) where one != other {
        Issue.record("seed \(seed), round \(round): \(one) but \(other)")
      }
    }
  }

  @Test(arguments: 21...24 as ClosedRange<UInt64>)
  func `garbage decodes to nothing and traps nowhere`(_ seed: UInt64) {
    var random = SplitMix(seed: seed)
    let alphabet = Array("var hq_str_sh60=\",.;|D\n0123456789-".utf8) + [0x81, 0xFE, 0xE4, 0]
    for round in 0..<500 {
      let count = Int.random(in: 0...1500, using: &random)
      var body = (0..<count).map { _ in alphabet.randomElement(using: &random) ?? 0 }
      if round % 2 == 0 { body = Array("var hq_str_sh600519=\"".utf8) + body }
      let records = decode(body).recorder.records
      #expect(!records.contains { $0.isQuote }, "seed \(seed), round \(round)")
    }
  }
}
