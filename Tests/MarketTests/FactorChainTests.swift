import Market
import TestSupport
import Testing

/// Random instruments with files that are late, wrong or missing: what is served is what happened,
/// or nothing is.
@Suite struct FactorChainTests {
  /// A day on which something happened, and what of it was recorded and filed.
  private struct ExDay {
    var day: TradingDay
    var close: ExactDecimal
    var previousClose: ExactDecimal
    /// What the file should have.
    var total: ExactDecimal
    var cash: ExactDecimal
    var split: ExactDecimal
    var isTestable: Bool
    var fault: Fault

    enum Fault: CaseIterable { case none, lacking, threefold, off }
  }

  private struct World {
    var random: SplitMix
    let isFund: Bool
    var days: [ExDay] = []
    var tick: ExactDecimal { ExactDecimal(units: 1, scale: isFund ? 3 : 2) }

    init(seed: UInt64) throws {
      random = SplitMix(seed: seed)
      isFund = Bool.random(using: &random)
      var day = TradingDay(daysSince1970: 18_000)
      for _ in 0..<Int.random(in: 1...5, using: &random) {
        day = day.advanced(by: .random(in: 1...400, using: &random))
        days.append(try exDay(on: day))
      }
    }

    private mutating func exDay(on day: TradingDay) throws -> ExDay {
      let close = ExactDecimal(units: .random(in: 800...60_000, using: &random), scale: tick.scale)
      let part = ExactDecimal(units: .random(in: 1...80, using: &random), scale: 3)
      var cash = try close.multiplied(by: part, scale: isFund ? 3 : 4)
      var (split, rights) = (ExactDecimal(1), ExactDecimal.zero)
      if isFund, Bool.random(using: &random) {
        let whole = ([2, 3, 5] as [Int64]).randomElement(using: &random) ?? 2
        split = Bool.random(using: &random) ? ExactDecimal(whole) : try ExactDecimal("0.49977589")
        cash = .zero
      } else if !isFund, Bool.random(using: &random) {
        split = ExactDecimal(units: .random(in: 11...20, using: &random), scale: 1)
        rights = ExactDecimal(units: .random(in: 0...3, using: &random), scale: 1)
      }
      // Rights cost nine tenths of the close.
      let paid = try rights.multiplied(by: close * ExactDecimal(units: 9, scale: 1), scale: 4)
      let worth = try close - cash + paid
      let held = try split + rights
      let isTestable = Int.random(in: 0..<4, using: &random) > 0
      return ExDay(
        day: day, close: close, previousClose: try worth.divided(by: held, scale: tick.scale),
        total: try (close * held).divided(by: worth, scale: 12), cash: cash,
        split: rights.isZero ? split : ExactDecimal.zero, isTestable: isTestable,
        fault: isTestable ? ExDay.Fault.allCases.randomElement(using: &random) ?? .none : .none)
    }

    var evidence: [TradingDay: FactorStep.Evidence] {
      Dictionary(
        uniqueKeysWithValues: days.map { exDay in
          let evidence = FactorStep.Evidence(
            previousClose: exDay.isTestable ? exDay.previousClose : nil, close: exDay.close,
            isCloseSeen: true)
          return (exDay.day, evidence)
        })
    }

    /// The file as its source has it.
    func file(_ kind: AdjustmentFactor.Kind, isInverse: Bool) throws -> [AdjustmentFactor] {
      let symbol = try #require(Symbol(isFund ? "sh510050" : "sh601009"))
      var row = AdjustmentFactor(
        symbol: symbol, kind: kind, from: TradingDay(daysSince1970: -25_567),
        factor: ExactDecimal(1),
        fund: isFund ? .init(cash: .zero, split: ExactDecimal(1)) : nil)
      var rows = [row]
      for exDay in days where exDay.fault != .lacking {
        row.from = exDay.day
        let wrong: ExactDecimal? =
          switch exDay.fault {
          case .threefold: ExactDecimal(3)
          case .off: ExactDecimal(units: 105, scale: 2)
          case .none, .lacking: nil
          }
        if let fund = row.fund, let cash = fund.cash, let split = fund.split {
          let inverse = try ExactDecimal(1).divided(by: exDay.split, scale: 12)
          let step = isInverse ? inverse : exDay.split
          row.fund?.cash = try cash + exDay.cash * (wrong ?? ExactDecimal(1))
          row.fund?.split = try split.multiplied(by: step * (wrong ?? ExactDecimal(1)), scale: 12)
        } else {
          row.factor = try row.factor.multiplied(by: wrong ?? exDay.total, scale: 12)
        }
        rows.append(row)
      }
      if kind == .hfq || isFund { return rows }
      let last = row.factor
      return try rows.map { row in
        var row = row
        row.factor = try last.divided(by: row.factor, scale: 12)
        return row
      }
    }
  }

  private func inForce(_ rows: [ServedFactor], on day: TradingDay) -> ExactDecimal? {
    rows.last { $0.from <= day }?.factor
  }

  private func distance(_ left: ExactDecimal, _ right: ExactDecimal) throws -> ExactDecimal {
    try left < right ? right - left : left - right
  }

  @Test(arguments: 1...400 as ClosedRange<UInt64>)
  func `what is served is what happened, or nothing is`(_ seed: UInt64) throws {
    var world = try World(seed: seed)
    let isInverse = Bool.random(using: &world.random)
    var files: [AdjustmentFactor.Kind: [AdjustmentFactor]] = [:]
    let isMissing = Int.random(in: 0..<8, using: &world.random) == 0
    for kind in isMissing ? [] : AdjustmentFactor.Kind.allCases {
      files[kind] = try world.file(kind, isInverse: isInverse)
    }
    if Int.random(in: 0..<4, using: &world.random) == 0 { files[.hfq] = nil }
    let chain = FactorChain(ofFund: world.isFund, tick: world.tick, evidence: world.evidence)
    let served = chain.served(files)
    if isMissing {
      #expect(served.allSatisfy { $0.factor == nil }, "seed \(seed)")
      return
    }
    for series in ServedFactor.Series.allCases {
      let rows = served.filter { $0.series == series }
      for exDay in world.days {
        guard let after = inForce(rows, on: exDay.day),
          let before = inForce(rows, on: exDay.day.advanced(by: -1))
        else {
          // Of shares a total is always known: by the file, or by the exchange.
          #expect(world.isFund || series == .split, "seed \(seed), \(exDay.day)")
          continue
        }
        let step =
          try series == .qfq
          ? before.divided(by: after, scale: 12) : after.divided(by: before, scale: 12)
        let made = try exDay.close.divided(by: step, scale: 8)
        let wanted =
          try series == .split
          ? exDay.close.divided(by: exDay.split, scale: 8) : exDay.previousClose
        #expect(
          try distance(made, wanted) <= world.tick * ExactDecimal(series == .split ? 2 : 1),
          "seed \(seed), \(series) \(exDay.day): \(made), not \(wanted); fault \(exDay.fault)")
      }
    }
  }

  @Test func `a file that holds is served with its own digits`() throws {
    let symbol = try #require(Symbol("sh601009"))
    let days = ["1900-01-01", "2017-07-18", "2023-06-21"].compactMap { TradingDay($0) }
    let factors = try ["1.0000000000000000", "1.4309787234040000", "1.5259315246120000"].map {
      try ExactDecimal($0)
    }
    let file = zip(days, factors).map {
      AdjustmentFactor(symbol: symbol, kind: .hfq, from: $0, factor: $1)
    }
    let evidence = [
      days[1]: FactorStep.Evidence(
        previousClose: try ExactDecimal("8.39"), close: try ExactDecimal("12.01"),
        isCloseSeen: true)
    ]
    let served = FactorChain(
      ofFund: false, tick: ExactDecimal(units: 1, scale: 2), evidence: evidence
    ).served([.hfq: file])
    #expect(
      served.filter { $0.series == .hfq }.map { $0.factor?.description }
        == factors.map(\.description))
    #expect(
      served.map { $0.step?.verdict } == [nil, .proven, .untestable, .untestable])
    // What was paid in shares is in no file: since the last day it is known.
    #expect(served.last?.series == .split && served.last?.from == days[2])
  }

  @Test func `before a step that nobody knows nothing is served`() throws {
    let symbol = try #require(Symbol("sz159939"))
    let days = ["1900-01-01", "2023-02-16", "2024-02-16"].compactMap { TradingDay($0) }
    let totals = [("0", "1"), ("0", "2"), ("0.1", "2")]
    let file = try zip(days, totals).map { day, totals in
      AdjustmentFactor(
        symbol: symbol, kind: .qfq, from: day, factor: ExactDecimal(1),
        fund: .init(cash: try ExactDecimal(totals.0), split: try ExactDecimal(totals.1)))
    }
    let evidence = [days[2]: FactorStep.Evidence(close: try ExactDecimal("2.500"))]
    let served = FactorChain(
      ofFund: true, tick: ExactDecimal(units: 1, scale: 3), evidence: evidence
    ).served([.qfq: file])
    let texts = served.map { row in
      "\(row.series) \(row.from) \(row.factor?.rounded(places: 4).normalized.description ?? "-")"
    }
    #expect(
      texts == [
        "qfq 1900-01-01 -", "qfq 2023-02-16 1.0417", "qfq 2024-02-16 1", "hfq 1900-01-01 -",
        "hfq 2023-02-16 1", "hfq 2024-02-16 1.0417", "split 2023-02-16 1",
      ])
  }
}
