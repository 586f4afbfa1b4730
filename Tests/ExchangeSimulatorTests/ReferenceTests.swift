import Market
import TestExchange
import Testing

@testable import ExchangeSimulator
@testable import Ledgers
@testable import TestExchange

/// Sina's calendar, factors and node lists.
@Suite struct ReferenceTests {
  /// Its first day has passed: nobody lives through it again.
  private static let history = Result {
    var history = try HistoryTests.history(14, days: 2, instruments: 300)
    _ = history.market(on: history.days[1])
    return history
  }
  /// Answers are functions of the question, so that one server does for all that want no faults.
  private static let server = Result { try ExchangeServer(history: history.get()) }

  private func ask(_ path: String, faults: [Fault] = []) throws -> RawClient.Response {
    let history = try Self.history.get()
    let server =
      try faults.isEmpty
      ? Self.server.get()
      : ExchangeServer(history: history, from: history.days[1], faults: FaultPlan(seed: 3, faults))
    defer { if !faults.isEmpty { server.stop() } }
    let client = try RawClient(port: server.port)
    defer { client.close() }
    let moment = Timestamp(day: history.days[1], secondOfDay: 40_000)
    let separator = path.contains("?") ? "&" : "?"
    return client.get(path + "\(separator)_=\(moment.microseconds / 1000)")
  }

  /// The packing read back, bit by bit, as Sina's page script does.
  private struct Unpacking {
    private var bits: ArraySlice<Int>

    init(_ text: Substring) {
      let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
      bits =
        text.flatMap { digit -> [Int] in
          let value = digits.firstIndex(of: digit) ?? 0
          return (0..<6).map { value >> $0 & 1 }
        }[...]
    }

    mutating func number(_ count: Int) -> Int {
      (0..<count).reduce(0) { $0 | (bits.popFirst() ?? 0) << $1 }
    }

    private mutating func change() -> Int {
      let sign = 2 * number(1) - 1
      var amount = 1
      while number(1) == 1 { amount += 1 }
      return sign * amount
    }

    mutating func days() -> [TradingDay] {
      var day = PackedCalendar.epoch.advanced(by: number(18) - 1)
      let last = PackedCalendar.epoch.advanced(by: number(18))
      var (width, left) = (0, -1)
      var days: [TradingDay] = []
      while day < last {
        repeat { day = day.advanced(by: 1) } while day.isWeekend
        if left > 0 {
          days.append(day)
        } else {
          if number(1) == 1 { width += change() }
          left = number(3 * width) + 1
          if days.isEmpty {
            days.append(day)
            left -= 1
          }
        }
        left -= 1
      }
      return days
    }
  }

  private static func unpacked(_ text: Substring) -> [TradingDay] {
    var unpacking = Unpacking(text)
    guard unpacking.number(12) == 139, unpacking.number(6) == 63 else { return [] }
    return unpacking.days()
  }

  @Test func `the calendar unpacks to the days Shanghai trades, less the one it lacks`() throws {
    let text = try ask("/realstock/company/klc_td_sh.txt").text
    #expect(text.hasPrefix("var datelist=\"LC/AAApND"))
    #expect(text.hasSuffix("\";var KLC_TD_SH=datelist;"))
    let days = ReferenceTests.unpacked(try #require(text.split(separator: "\"").dropFirst().first))
    #expect(days.count == 8796)
    #expect(days.first?.description == "1990-12-19" && days.last?.description == "2026-12-31")
    let wrong = days.filter { TradingCalendar.shanghai.isTradingDay($0) != true }
    #expect(wrong == [])
  }

  @Test func `both factors run from 1900 and mirror each other`() throws {
    let qfq = try ask("/realstock/company/sh600000/qfq.js").text
    let hfq = try ask("/realstock/company/sh600000/hfq.js").text
    #expect(qfq.hasPrefix("var sh600000qfq={\"total\":"))
    let (forward, backward) = (ReferenceTests.factors(qfq), ReferenceTests.factors(hfq))
    #expect(forward.count > 1 && forward.map(\.day) == backward.map(\.day))
    #expect(forward.first?.factor == "1.0000000000000000" && forward.last?.day == "1900-01-01")
    #expect(backward.last?.factor == "1.0000000000000000")
    let (whole, same) = (forward.last?.factor.prefix(10), backward.first?.factor.prefix(10))
    #expect(whole == same)
  }

  private static func factors(_ text: String) -> [(day: String, factor: String)] {
    text.split(separator: "{\"d\":\"").dropFirst().map { row in
      let parts = row.split(separator: "\"")
      return (String(parts[0]), String(parts[4]))
    }
  }

  @Test func `an unknown symbol has no factors`() throws {
    #expect(try ask("/realstock/company/sh999999/qfq.js").status == 404)
  }

  @Test(arguments: ["hs_a", "kcb", "hs_bjs"])
  func `the pages of a node hold as many rows as it counts`(_ node: String) throws {
    let service = "/quotes_service/api/json_v2.php/Market_Center."
    let count = try #require(
      Int(try ask(service + "getHQNodeStockCount?node=\(node)").text.filter { $0 != "\"" }))
    var symbols: [Substring] = []
    for page in 1...5 {
      let text = try ask(
        service + "getHQNodeData?page=\(page)&num=80&sort=symbol&asc=1&node=\(node)"
      ).text
      let rows = text.split(separator: "{\"symbol\":\"").dropFirst().map { $0.prefix(8) }
      #expect(rows.count == min(max(count - 80 * (page - 1), 0), 80))
      #expect(!rows.isEmpty || text == "[]")
      #expect(text.utf8.allSatisfy { $0 < 0x80 } && !text.contains("\"name\":\"\""))
      symbols += rows
    }
    #expect(symbols.count == count && count > 0 && symbols == symbols.sorted())
  }

  @Test func `an unknown node is empty and an unknown question an input error`() throws {
    let service = "/quotes_service/api/json_v2.php/Market_Center."
    #expect(try ask(service + "getHQNodeStockCount?node=none").text == "\"0\"")
    #expect(try ask(service + "getNothing?node=hs_a").text.contains("Input error"))
  }

  @Test func `a throttled page is null and a short one short`() throws {
    let path = "/quotes_service/api/json_v2.php/Market_Center.getHQNodeData?num=80&node=hs_a"
    #expect(try ask(path, faults: [Fault(.response(.null), on: .sinaHistory)]).text == "null")
    let short = try ask(path, faults: [Fault(.shortList(rows: 3), on: .sinaHistory)]).text
    #expect(short.split(separator: "{\"symbol\"").count == 4)
  }
}
