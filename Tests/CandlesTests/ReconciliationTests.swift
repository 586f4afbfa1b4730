import Candles
import Market
import TestSupport
import Testing

/// One rule each, on a morning of ten minutes written by hand.
@Suite struct ReconciliationTests {
  private let day = TradingDay(daysSince1970: 20_640)

  private func symbol() throws -> Symbol { try #require(Symbol("sh600519")) }

  private func candle(
    _ minute: Int, _ price: Int64, volume: Int64, flags: CandleFlags = [],
    turnover: ExactDecimal? = nil
  ) throws -> Candle {
    let price = ExactDecimal(price)
    let openedAt = Timestamp(day: day, secondOfDay: Session.opening(ofMinute: minute))
    return Candle(
      symbol: try symbol(), timeframe: .minute1, tradingDay: day, openedAt: openedAt,
      closedAt: openedAt.adding(seconds: 60), open: price, high: price, low: price, close: price,
      volume: ExactDecimal(volume), turnover: try turnover ?? price * ExactDecimal(volume),
      flags: volume == 0 ? .noTrade : flags, source: .sina)
  }

  /// 100 shares in each minute but the auction's.
  private func wholeDay() throws -> [Candle] {
    try (0..<240).map { try candle($0, 10, volume: (237...238).contains($0) ? 0 : 100) }
  }

  private func bars() throws -> [Candle] { try wholeDay().filter { $0.flags.isEmpty } }

  private func gap(_ id: Int64, _ from: String, _ to: String, volume: Int64) throws
    -> Reconciliation.OpenGap
  {
    let tape = Tape()
    return Reconciliation.OpenGap(
      id: id,
      gap: Gap(
        symbol: try symbol(), tradingDay: day, from: tape.moment(from), to: tape.moment(to),
        volume: ExactDecimal(volume), turnover: ExactDecimal(volume * 10), cause: .outage))
  }

  private func certificate(_ minutes: [Candle], gaps: Int64, missing: Int16) throws
    -> DayCertificate
  {
    let volume = try minutes.reduce(ExactDecimal.zero) { try $0 + $1.volume }
    let turnover = try minutes.reduce(ExactDecimal.zero) { try $0 + ($1.turnover ?? .zero) }
    return DayCertificate(
      symbol: try symbol(), tradingDay: day, exchangeVolume: try volume + ExactDecimal(gaps),
      exchangeTurnover: try turnover + ExactDecimal(gaps * 10), minuteVolume: volume,
      minuteTurnover: turnover, gapVolume: ExactDecimal(gaps),
      gapTurnover: ExactDecimal(gaps * 10), afterHoursVolume: .zero, afterHoursTurnover: .zero,
      minutesTraded: Int16(minutes.count), minutesUntraded: 0, minutesMissing: missing)
  }

  private func reconcile(
    _ minutes: [Candle], _ gaps: [Reconciliation.OpenGap], _ certificate: DayCertificate?,
    bars: [Candle]
  ) throws -> Reconciliation.Outcome {
    Reconciliation(
      symbol: try symbol(), day: day, minutes: minutes, gaps: gaps, certificate: certificate,
      dayCandle: try candle(0, 10, volume: 1), bars: bars
    ).outcome()
  }

  @Test func `a day that the bars confirm changes nothing but is certified anew`() throws {
    let minutes = try wholeDay()
    let outcome = try reconcile(
      minutes, [], certificate(minutes, gaps: 0, missing: 0), bars: bars())
    #expect(outcome.revisions.isEmpty && outcome.candles.isEmpty)
    #expect(outcome.certificate?.isBalanced == true)
    #expect(outcome.certificate?.minutesUntraded == 2)
  }

  @Test func `a doubtful minute that the bars confirm loses its doubt`() throws {
    var minutes = try wholeDay()
    minutes[7].flags = .extremeAmbiguous
    let outcome = try reconcile(
      minutes, [], certificate(minutes, gaps: 0, missing: 0), bars: bars())
    #expect(outcome.revisions.map(\.candle.openedAt) == [minutes[7].openedAt])
    #expect(outcome.revisions.map(\.candle.flags) == [[]])
    #expect(outcome.revisions.map(\.cause) == [.kline])
  }

  @Test func `bars that are our own prices rounded leave us our digits`() throws {
    var minutes = try wholeDay()
    var bars = try bars()
    for place in bars.indices { bars[place] = try quoted(bars[place], ExactDecimal("10.000")) }
    minutes[6] = try quoted(minutes[6], ExactDecimal("9.9995"))
    minutes[7] = try quoted(minutes[7], ExactDecimal("10.0004"))
    minutes[7].flags = .extremeAmbiguous
    minutes[8] = try quoted(minutes[8], ExactDecimal("10.0005"))
    let outcome = try reconcile(minutes, [], certificate(minutes, gaps: 0, missing: 0), bars: bars)
    #expect(
      outcome.revisions.map(\.candle.row) == [
        "10.0004 10.0004 10.0004 10.0004 100 1000", "10.000 10.000 10.000 10.000 100 1000",
      ])
    #expect(outcome.revisions.allSatisfy { $0.candle.flags.isEmpty })
  }

  /// Other prices, the same trades.
  private func quoted(_ candle: Candle, _ price: ExactDecimal) -> Candle {
    var candle = candle
    candle.open = price
    candle.high = price
    candle.low = price
    candle.close = price
    return candle
  }

  @Test func `a day seen past its close but for the closing print is healed by the bars`() throws {
    let minutes = try wholeDay().map { minute in
      var minute = minute
      if minute.closedAt == Tape().moment("15:00:00") {
        minute.volume = .zero
        minute.turnover = .zero
        minute.flags = .noTrade
      }
      return minute
    }
    var close = try gap(9, "15:00:30", "15:00:30", volume: 0)
    close.gap.cause = .unseenClose
    var unseen = try certificate(minutes, gaps: 0, missing: 0)
    unseen.exchangeVolume = nil
    unseen.exchangeTurnover = nil
    let outcome = try reconcile(minutes, [close], unseen, bars: bars())
    #expect(outcome.closedGaps == [9] && outcome.certificate?.isBalanced == true)
    #expect(outcome.revisions.map(\.candle.volume) == [ExactDecimal(100)])
  }

  @Test func `a bar that ends at the open folds into the first minute`() throws {
    let minutes = try wholeDay()
    var bars = try bars()
    var auction = try candle(0, 9, volume: 60)
    auction.openedAt = auction.openedAt.adding(seconds: -60)
    auction.closedAt = auction.closedAt.adding(seconds: -60)
    bars[0] = try candle(0, 10, volume: 40, turnover: ExactDecimal(460))
    let outcome = try reconcile(
      minutes, [], certificate(minutes, gaps: 0, missing: 0), bars: [auction] + bars)
    #expect(outcome.revisions.map(\.candle.row) == ["9 10 9 10 100 1000"])
  }

  @Test func `a gap heals alone where the day as a whole does not add up`() throws {
    var minutes = try wholeDay()
    minutes[9] = try candle(9, 10, volume: 30, flags: .partial)
    minutes.removeSubrange(10...11)
    let gaps = [try gap(4, "09:39:20", "09:42:00", volume: 270)]
    var bars = try bars()
    bars[200] = try candle(200, 10, volume: 101)
    let outcome = try reconcile(
      minutes, gaps, certificate(minutes, gaps: 270, missing: 2), bars: bars)
    #expect(outcome.closedGaps == [4])
    #expect(outcome.candles.map(\.volume) == [ExactDecimal(100), ExactDecimal(100)])
    #expect(outcome.revisions.map(\.candle.volume) == [ExactDecimal(100)])
    #expect(outcome.certificate?.isBalanced == true && outcome.certificate?.minutesMissing == 0)
    #expect(outcome.disagreements.map(\.timeframe) == [.day1, .day1])
  }

  @Test func `gaps that share a minute heal together`() throws {
    var minutes = try wholeDay()
    minutes[10] = try candle(10, 10, volume: 20, flags: .partial)
    minutes.remove(at: 11)
    minutes.remove(at: 9)
    let gaps = [
      try gap(1, "09:39:00", "09:40:10", volume: 130),
      try gap(2, "09:40:30", "09:42:00", volume: 150),
    ]
    var bars = try bars()
    bars[200] = try candle(200, 10, volume: 101)
    let outcome = try reconcile(
      minutes, gaps, certificate(minutes, gaps: 280, missing: 2), bars: bars)
    #expect(outcome.closedGaps == [1, 2])
    #expect(outcome.certificate?.isBalanced == true)
  }

  @Test func `a gap that its bars do not explain stays, sighted and disagreed about`() throws {
    var minutes = try wholeDay()
    minutes.removeSubrange(10...11)
    let gaps = [try gap(4, "09:40:00", "09:42:00", volume: 201)]
    let outcome = try reconcile(
      minutes, gaps, certificate(minutes, gaps: 201, missing: 2), bars: bars())
    #expect(outcome.closedGaps.isEmpty && outcome.candles.isEmpty && outcome.certificate == nil)
    #expect(outcome.gapChecks.map(\.reason) == [.barsDiffer])
    let volumes = outcome.disagreements.filter { $0.timeframe == .minute1 && $0.field == .volume }
    #expect(volumes.map(\.ours) == [ExactDecimal(201)])
    #expect(volumes.map(\.theirs) == [ExactDecimal(200)])
    #expect(volumes.map(\.openedAt) == [Tape().moment("09:40:00")])
  }

  @Test func `bars that do not reach a gap are no disagreement`() throws {
    var minutes = try wholeDay()
    minutes.removeSubrange(10...11)
    let gaps = [try gap(4, "09:40:00", "09:42:00", volume: 200)]
    let outcome = try reconcile(
      minutes, gaps, certificate(minutes, gaps: 200, missing: 2), bars: Array(bars()[50...]))
    #expect(outcome.gapChecks.map(\.reason) == [.notInBars])
    #expect(outcome.disagreements.isEmpty)
  }

  @Test func `a gap before the close is healed by the auction's bar`() throws {
    var minutes = try wholeDay()
    minutes.removeLast()
    let gaps = [try gap(4, "14:58:30", "15:00:03", volume: 100)]
    var bars = try bars()
    bars[3] = try candle(3, 10, volume: 101)
    let outcome = try reconcile(
      minutes, gaps, certificate(minutes, gaps: 100, missing: 1), bars: bars)
    #expect(outcome.closedGaps == [4])
    #expect(outcome.candles.map(\.volume) == [ExactDecimal(100)])
  }

  @Test func `turnover in single precision is made exact where the most was traded`() throws {
    var minutes = try wholeDay()
    minutes[9] = try candle(9, 10, volume: 30, flags: .partial)
    let gaps = [try gap(4, "09:39:20", "09:40:00", volume: 70)]
    var bars = try bars()
    for place in bars.indices {
      bars[place].turnover = ExactDecimal(units: 9_999_999, scale: 4)
    }
    let outcome = try reconcile(
      minutes, gaps, certificate(minutes, gaps: 70, missing: 0), bars: bars)
    #expect(outcome.revisions.map(\.candle.turnover) == [ExactDecimal(1000)])
    #expect(outcome.closedGaps == [4] && outcome.certificate?.isBalanced == true)
  }

  @Test func `bars without money heal the volume and leave the money in a gap of its own`() throws {
    var minutes = try wholeDay()
    minutes[9] = try candle(9, 10, volume: 30, flags: .partial)
    minutes.remove(at: 10)
    let gaps = [try gap(4, "09:39:20", "09:41:00", volume: 170)]
    var bars = try bars()
    for place in bars.indices { bars[place].turnover = nil }
    let outcome = try reconcile(
      minutes, gaps, certificate(minutes, gaps: 170, missing: 1), bars: bars)
    #expect(outcome.closedGaps == [4])
    #expect(outcome.remainders.map(\.volume) == [.zero])
    #expect(outcome.remainders.map(\.turnover) == [ExactDecimal(2000)])
    #expect((outcome.candles + outcome.revisions.map(\.candle)).allSatisfy { $0.turnover == nil })
    #expect(outcome.revisions.count == 1)
    #expect(outcome.certificate?.isBalanced == true)
  }

  @Test func `a day nobody watched is made of its bars, day candle included`() throws {
    let outcome = Reconciliation(
      symbol: try symbol(), day: day, minutes: [], gaps: [], certificate: nil, dayCandle: nil,
      bars: try bars()
    ).outcome()
    #expect(outcome.candles.count == 241)
    #expect(outcome.candles.last?.row == "10 10 10 10 23800 238000")
    #expect(outcome.certificate?.isBalanced == true && outcome.certificate?.minutesMissing == 0)
  }

  @Test func `no bars are the whole of a day on which the exchange counted nothing`() throws {
    let gaps = [try gap(4, "09:40:00", "09:42:00", volume: 0)]
    let quiet = try reconcile([], gaps, certificate([], gaps: 0, missing: 240), bars: [])
    #expect(quiet.closedGaps == [4] && quiet.candles.isEmpty && quiet.gapChecks.isEmpty)
    #expect(quiet.certificate?.isBalanced == true)
    let traded = try reconcile([], gaps, certificate([], gaps: 200, missing: 240), bars: [])
    #expect(traded.closedGaps.isEmpty)
    #expect(traded.gapChecks.map(\.reason) == [.notInBars])
  }

  @Test func `bars whose volume is in another unit do not stand for a day nobody watched`() throws {
    var bars = try bars()
    for place in bars.indices {
      bars[place].volume = ExactDecimal(100_000)
    }
    let outcome = Reconciliation(
      symbol: try symbol(), day: day, minutes: [], gaps: [], certificate: nil, dayCandle: nil,
      bars: bars
    ).outcome()
    #expect(outcome == Reconciliation.Outcome())
  }
}
