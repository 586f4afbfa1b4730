import Glibc
import Market
import TestSupport
import Testing

@testable import Feeds

@Suite struct SinaCalendarTests {
  private static let known: [TradingDay] = {
    let calendar = TradingCalendar.shanghai
    return (calendar.firstDay...calendar.lastDay).filter { calendar.isTradingDay($0) == true }
  }()
  private let lacking = TradingDay("1992-05-04")

  private func decode(_ body: [UInt8]) throws -> [TradingDay] {
    try body.withUnsafeBytes { try SinaCalendar.decode($0, status: 200) }
  }

  private func fault(_ body: [UInt8]) -> FeedRefusal? {
    do {
      _ = try decode(body)
      return nil
    } catch {
      return error as? FeedRefusal
    }
  }

  @Test func `the days that were packed come out, the lacking one stays lacking`() throws {
    let packed = SinaCalendarTests.known.filter { $0 != lacking }
    let days = try decode(SinaCalendarPacker.file(of: packed))
    #expect(days == packed)
    #expect(days.count == 8796)
    let withZeros = try decode(SinaCalendarPacker.file(of: packed, padding: false))
    #expect(withZeros == packed)
  }

  /// `CANDLED_RECORD=1 swift test --filter SinaCalendarTests` writes the file anew.
  @Test func `the file to be damaged names every day that is known`() throws {
    let packed = SinaCalendarTests.known.filter { $0 != lacking }
    let body = SinaCalendarPacker.file(of: packed)
    if getenv("CANDLED_RECORD") != nil {
      let text = String(decoding: body, as: UTF8.self)
      #expect(Files.write(text, to: Files.fixtures + "/calendar.js.txt"))
    }
    #expect(try Files.fixture("calendar.js.txt") == body)
  }

  /// Worked out by hand: 12 bits 139, 6 bits 63, days 0 and 6; then a run: the width
  /// changes (1), by +1 (10), and is 5 days long (101), lowest bits first.
  @Test func `the first week of the exchange has these bits`() throws {
    let week = ["1990-12-19", "1990-12-20", "1990-12-21", "1990-12-24", "1990-12-25"]
    let body = SinaCalendarPacker.script(around: Array("LC/AAAGAAr".utf8))
    let days = try decode(body)
    #expect(days.map(\.description) == week)
    #expect(SinaCalendarPacker.file(of: days, padding: false) == body)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `calendars of the years to come come out as they were packed`(_ seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let start = TradingCalendar.shanghai.lastDay.advanced(by: 1)
    let weekdays = (start...start.advanced(by: 2000)).filter { !$0.isWeekend }
    let closedPercent = Int.random(in: 0...60, using: &random)
    let coming = weekdays.filter { _ in Int.random(in: 0..<100, using: &random) >= closedPercent }
    let days = SinaCalendarTests.known + coming
    let decoded = try decode(SinaCalendarPacker.file(of: days))
    #expect(decoded == days, "seed \(seed)")
  }

  @Test func `a day closed by notice is taken over`() throws {
    let closed = TradingDay("2026-12-31")
    let days = SinaCalendarTests.known.filter { $0 != closed && $0 != lacking }
    let decoded = try decode(SinaCalendarPacker.file(of: days))
    #expect(decoded == days)
  }

  @Test func `a calendar that strays from the days known is refused`() {
    let days = SinaCalendarTests.known.filter { $0.civil.year != 2020 || $0.civil.month != 3 }
    #expect(
      fault(SinaCalendarPacker.file(of: days))
        == FeedRefusal(.implausible, "22 days differ from the known calendar"))
  }

  @Test func `another form or version of packing is refused`() {
    let wanted = FeedRefusal(.malformed, "the packed bits are not a calendar")
    let known = SinaCalendarTests.known
    #expect(fault(SinaCalendarPacker.file(of: known, form: 136)) == wanted)
    #expect(fault(SinaCalendarPacker.file(of: known, version: 2)) == wanted)
    #expect(fault(SinaCalendarPacker.file(of: known, version: 1)) == nil)
  }

  @Test func `no prefix of the packed bits is a calendar`() throws {
    let file = SinaCalendarPacker.file(of: SinaCalendarTests.known)
    let opening = try #require(file.firstIndex(of: UInt8(ascii: "\"")))
    let closing = try #require(file.dropFirst(opening + 1).firstIndex(of: UInt8(ascii: "\"")))
    for cut in 0...closing { #expect(fault(Array(file.prefix(cut))) != nil, "cut at \(cut)") }
    for cut in opening + 1..<closing {
      let body = SinaCalendarPacker.script(around: Array(file[(opening + 1)..<cut]))
      #expect(fault(body) != nil, "packed bits cut at \(cut)")
    }
  }

  /// A flip may still name a calendar: then no more than ten days of it are wrong.
  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `no flipped bit makes a calendar that differs by more than ten days`(_ seed: UInt64) {
    var random = SplitMix(seed: seed)
    let known = SinaCalendarTests.known
    let file = SinaCalendarPacker.file(of: known)
    for _ in 0..<100 {
      var damaged = file
      let bit = Int.random(in: 0..<file.count * 8, using: &random)
      damaged[bit / 8] ^= 1 << (bit % 8)
      guard let days = try? decode(damaged) else { continue }
      let last = days.last ?? SinaCalendarPacker.epoch
      let wrong = Set(days).symmetricDifference(known).filter { $0 <= last }
      #expect(wrong.count <= SinaCalendar.disagreementsMax, "seed \(seed), bit \(bit)")
    }
  }
}
