import Market
import TestSupport
import Testing

@Suite struct UniverseTests {
  private let now = Timestamp(seconds: 1_783_000_000)
  private static let limits: UniverseLimits = {
    var limits = UniverseLimits()
    limits.mainRowsMin = 90
    return limits
  }()

  private func row(_ number: Int, _ exchange: Exchange? = nil, name: String? = nil) throws
    -> ListedInstrument
  {
    let exchange = exchange ?? (number % 2 == 0 ? .shanghai : .shenzhen)
    let code = String(String(1_000_000 + number).dropFirst())
    return ListedInstrument(
      symbol: try #require(Symbol(exchange.prefix + code)), name: name ?? "name \(number)",
      exchange: exchange)
  }

  private func rows(_ numbers: some Sequence<Int>, _ exchange: Exchange? = nil) throws
    -> [ListedInstrument]
  {
    try numbers.map { try row($0, exchange) }
  }

  private func change(_ verdict: UniverseVerdict) throws -> UniverseChange {
    let change: UniverseChange? = if case .accepted(let change) = verdict { change } else { nil }
    return try #require(change, "\(verdict)")
  }

  private func isRefused(_ verdict: UniverseVerdict) -> Bool {
    if case .quarantined = verdict { return true }
    return false
  }

  private func universe(of count: Int) throws -> Universe {
    var universe = Universe(limits: Self.limits)
    _ = universe.offer(try rows(0..<count), rejectedRows: 0, part: .main, at: now)
    return universe
  }

  @Test func `the first list adds all its rows, sorted`() throws {
    var universe = Universe(limits: Self.limits)
    let list = try rows(0..<100)
    let verdict = universe.offer(list.shuffled(), rejectedRows: 0, part: .main, at: now)
    #expect(try change(verdict).added == list.sorted { $0.symbol < $1.symbol })
    #expect(universe.members.map(\.instrument) == list.sorted { $0.symbol < $1.symbol })
    #expect(universe.accepted[.main]?.rows == 100)
  }

  @Test func `a list is refused with its figures and changes nothing`() throws {
    var universe = try universe(of: 200)
    let before = universe.members
    func sentence(_ rows: [ListedInstrument], rejected: Int = 0) -> String? {
      let verdict = universe.offer(rows, rejectedRows: rejected, part: .main, at: now)
      if case .quarantined(let sentence) = verdict { return sentence }
      return nil
    }
    #expect(
      sentence(try rows(0..<89))
        == "the list hslt has 89 instruments, fewer than the 90 it must have"
    )
    #expect(
      sentence(try rows(0..<195))
        == "the list hslt has 195 instruments, less than 98 % of the 200 accepted on 2026-07-02")
    #expect(
      sentence(try rows(0..<200), rejected: 3)
        == "of the 203 rows of the list hslt 3 are not valid, more than 1 %")
    #expect(
      sentence(try rows(0..<200, .shanghai))
        == "the list hslt has 200 instruments and none of Shenzhen")
    #expect(universe.members == before)
    #expect(sentence(try rows(0..<196), rejected: 1) == nil)
  }

  @Test func `by default a list of 200 rows is none of the market`() throws {
    var universe = Universe()
    for part in [ListPart.main, .node("hs_a")] {
      let refused = universe.offer(try rows(0..<200), rejectedRows: 0, part: part, at: now)
      #expect(isRefused(refused))
    }
    #expect(universe.members.isEmpty)
  }

  @Test func `a code twice is one instrument, as the later row names it`() throws {
    var universe = Universe(limits: Self.limits)
    let twice = try rows(0..<89) + [row(5, name: "later")]
    let refused = universe.offer(twice, rejectedRows: 0, part: .main, at: now)
    #expect(isRefused(refused))
    let enough = try rows(0..<100) + [row(5, name: "later")]
    _ = universe.offer(enough, rejectedRows: 0, part: .main, at: now)
    #expect(universe.member(try row(5).symbol)?.instrument.name == "later")
  }

  @Test func `a new name is reported and is no new instrument`() throws {
    var universe = try universe(of: 100)
    let renamed = try rows(0..<99) + [row(99, name: "XD 99")]
    let verdict = universe.offer(renamed, rejectedRows: 0, part: .main, at: now)
    let change = try change(verdict)
    #expect(change.renamed.map(\.now) == ["XD 99"])
    #expect(change.renamed.map(\.before) == ["name 99"])
    #expect(change.added.isEmpty && change.vanished.isEmpty)
  }

  @Test func `a code is delisted by the third list without it, and may come back`() throws {
    var universe = try universe(of: 200)
    let gone = try row(7).symbol
    let without = try rows((0..<200).filter { $0 != 7 })
    var changes: [UniverseChange] = []
    for _ in 0..<4 {
      changes.append(
        try change(universe.offer(without, rejectedRows: 0, part: .main, at: now)))
    }
    #expect(changes.map(\.vanished) == [[gone], [gone], [], []])
    #expect(changes.map(\.delisted) == [[], [], [gone], []])
    #expect(universe.member(gone)?.isDelisted == true)
    let back = universe.offer(try rows(0..<200), rejectedRows: 0, part: .main, at: now)
    #expect(try change(back).relisted == [gone])
    #expect(universe.member(gone)?.missedLists == 0)
  }

  @Test func `an old code is missed by no list, and only comes back as another`() throws {
    var universe = try universe(of: 200)
    let old = try row(7).symbol
    let new = try #require(Symbol("sh688999"))
    universe.rename(old, to: new)
    #expect(universe.member(old) == nil && universe.member(new)?.instrument.name == "name 7")
    // A list that still has it changes nothing.
    let late = try change(
      universe.offer(
        try rows(0..<200) + [ListedInstrument(symbol: new, name: "name 7", exchange: .shanghai)],
        rejectedRows: 0, part: .main, at: now))
    #expect(late.added.isEmpty && late.reused.isEmpty && universe.member(old) == nil)
    let other = try rows((0..<200).filter { $0 != 7 }) + [row(7, name: "another")]
    let reuse = try change(universe.offer(other, rejectedRows: 0, part: .main, at: now))
    #expect(reuse.reused == [old] && reuse.added.map(\.symbol) == [old])
  }

  @Test func `a list that keeps an old code under its old name shows no other instrument`() throws {
    var universe = try universe(of: 200)
    let old = try row(7).symbol
    let new = try #require(Symbol("sh688999"))
    universe.rename(old, to: new)
    let named = ListedInstrument(symbol: new, name: "changed, too", exchange: .shanghai)
    let former = UniverseMember(instrument: try row(7), part: .main, missedLists: 1)
    let restored = Universe(
      limits: Self.limits, members: universe.members + [former], renames: universe.renames)
    for var known in [universe, restored] {
      let late = try change(
        known.offer(try rows(0..<200) + [named], rejectedRows: 0, part: .main, at: now))
      #expect(late.reused.isEmpty && known.member(old) == nil)
      // Of the company that gets the code the name is neither.
      let other = try rows((0..<200).filter { $0 != 7 }) + [named, row(7, name: "another")]
      let reuse = try change(known.offer(other, rejectedRows: 0, part: .main, at: now))
      #expect(reuse.reused == [old])
    }
  }

  @Test func `a code is another instrument's, too, after the second change`() throws {
    var universe = try universe(of: 200)
    let codes = try [row(7).symbol] + ["sh688998", "sh688999"].map { try #require(Symbol($0)) }
    universe.rename(codes[0], to: codes[1])
    universe.rename(codes[1], to: codes[2])
    #expect(universe.living(codes[0]) == codes[2])
    let other =
      try rows((0..<200).filter { $0 != 7 }) + [
        row(7, name: "another"),
        ListedInstrument(symbol: codes[2], name: "name 7", exchange: .shanghai),
      ]
    let reuse = try change(universe.offer(other, rejectedRows: 0, part: .main, at: now))
    #expect(reuse.reused == [codes[0]] && universe.member(codes[0]) != nil)
  }

  @Test func `a delisted code under another name is another instrument`() throws {
    var universe = try universe(of: 200)
    let without = try rows((0..<200).filter { $0 != 7 })
    for _ in 0..<3 { _ = universe.offer(without, rejectedRows: 0, part: .main, at: now) }
    let back = try change(
      universe.offer(
        without + [row(7, name: "another")], rejectedRows: 0, part: .main, at: now))
    #expect(back.reused == [try row(7).symbol] && back.relisted.isEmpty)
  }

  @Test func `a list that shows it once in between starts the count anew`() throws {
    var universe = try universe(of: 200)
    let without = try rows(0..<199)
    for list in [without, without, try rows(0..<200), without, without] {
      _ = universe.offer(list, rejectedRows: 0, part: .main, at: now)
    }
    #expect(universe.member(try row(199).symbol)?.missedLists == 2)
  }

  @Test func `a list that is refused misses nothing`() throws {
    var universe = try universe(of: 200)
    for _ in 0..<5 {
      _ = universe.offer(try rows(0..<100), rejectedRows: 0, part: .main, at: now)
    }
    #expect(universe.members.allSatisfy { $0.missedLists == 0 })
  }

  @Test func `each part has its own size and misses its own instruments only`() throws {
    var universe = try universe(of: 200)
    let beijing = try rows(0..<10, .beijing)
    for list in [beijing, Array(beijing.dropLast(0))] {
      _ = universe.offer(list, rejectedRows: 0, part: .beijing, at: now)
    }
    #expect(universe.members.count == 210)
    #expect(universe.members.allSatisfy { $0.missedLists == 0 })
    let short = universe.offer(
      Array(beijing.dropLast()), rejectedRows: 0, part: .beijing, at: now)
    #expect(isRefused(short))
    let foreign = universe.offer(
      try rows(0..<20), rejectedRows: 0, part: .beijing, at: now)
    #expect(isRefused(foreign))
  }

  @Test func `what another source lists again is that one's to miss`() throws {
    var universe = try universe(of: 200)
    let node = ListPart.node("hs_a")
    _ = universe.offer(try rows(0..<199), rejectedRows: 0, part: node, at: now)
    // Sina never listed the last one: it is Mairui's to miss.
    #expect(universe.member(try row(199).symbol)?.part == .main)
    #expect(universe.member(try row(199).symbol)?.missedLists == 0)
    _ = universe.offer(try rows(0..<198), rejectedRows: 0, part: node, at: now)
    #expect(universe.member(try row(198).symbol)?.missedLists == 1)
  }

  @Test func `a universe is rebuilt from its rows`() throws {
    var universe = try universe(of: 200)
    _ = universe.offer(try rows(0..<199), rejectedRows: 0, part: .main, at: now)
    var again = Universe(
      limits: Self.limits, members: universe.members, accepted: Array(universe.accepted.values))
    for list in [try rows(0..<198), try rows(0..<190)] {
      #expect(
        again.offer(list, rejectedRows: 0, part: .main, at: now)
          == universe.offer(list, rejectedRows: 0, part: .main, at: now))
    }
    #expect(again.members == universe.members)
  }
}

extension ListPart {
  fileprivate static let main = ListPart(name: "hslt", allOf: [.shanghai, .shenzhen])
  fileprivate static let beijing = ListPart(name: "bj", allOf: [.beijing])
  fileprivate static func node(_ name: String) -> ListPart {
    ListPart(name: "node/" + name, allOf: name == "hs_a" ? [.shanghai, .shenzhen] : [])
  }
}
