import Candles
import Market
import TestSupport
import TestTraits
import Testing

/// Random days that two sources serve in turn, one of them rounded, late, and stamped when it
/// refreshes.
@Suite(.ownThread) struct SourceChangePropertyTests {
  /// One answer: whose, and which state of the day it shows.
  private struct Answer {
    var second: Int
    var isSecond: Bool
    var isFirstOfSource: Bool
    var quote: Quote
  }

  /// Who serves from which second on; each change costs up to 12 s.
  private func answers(
    _ day: TradedDay, isStar: Bool, changesMax: Int, random: inout SplitMix
  ) -> [Answer] {
    let edges = [Session.auctionMatch, 41_400, 46_800, Session.closingAuction, 54_000]
    var changes = (0..<Int.random(in: 1...changesMax, using: &random)).map { _ in
      let edge = edges.randomElement(using: &random) ?? 0
      return Bool.random(using: &random)
        ? Int.random(in: 33_400...54_060, using: &random)
        : edge + Int.random(in: -200...20, using: &random)
    }
    changes.sort()
    let end = 15 * 3600 + 120
    var isSecond = Bool.random(using: &random)
    var (lag, isFirst) = (Int.random(in: 0...6, using: &random), false)
    var (second, answers) = (Session.auctionMatch - 300, [Answer]())
    while second < end {
      answers.append(
        Answer(
          second: second, isSecond: isSecond, isFirstOfSource: isFirst,
          quote: isSecond
            ? rounded(day.quote(at: second - lag), seenAt: second, isStar: isStar)
            : day.quote(at: second)))
      isFirst = false
      second += 3
      guard let next = changes.first, next <= second else { continue }
      changes.removeFirst()
      isSecond.toggle()
      isFirst = true
      lag = Int.random(in: 0...6, using: &random)
      second += Int.random(in: 0...9, using: &random)
    }
    return answers
  }

  private func rounded(_ exact: Quote, seenAt second: Int, isStar: Bool) -> Quote {
    var quote = exact
    let isLunch = (Session.morningClose..<Session.afternoonOpen).contains(second)
    quote.secondOfDay = Int32(isLunch ? Session.morningClose : second)
    if isStar { return quote }
    quote.volume = ExactDecimal((exact.volume.units + 50) / 100 * 100)
    quote.turnover = exact.turnover.rounded(places: 0)
    quote.rounding = Rounding(volume: 50, turnover: 1)
    return quote
  }

  /// What the answers let a book know: each minute's volume and money as they were traded, of those
  /// trades that were first seen in it.
  private struct Ledger {
    var volume = [Int64](repeating: 0, count: 240)
    /// In fen.
    var money = [Int64](repeating: 0, count: 240)
    var coarse: Set<Int> = []
    private var seen = (volume: Int64(0), money: Int64(0))
    private var booked = (volume: Int64(0), money: Int64(0))
    private var isCoarse = false
    private var place = 0

    /// - Parameter truth: what had been traded when the row was true.
    mutating func see(_ quote: Quote, truth: Quote) throws {
      let spread = (Int64(quote.rounding.volume), Int64(quote.rounding.turnover) * 100)
      let shown = (
        volume: quote.volume.units, money: try quote.turnover.rescaled(places: 2).units
      )
      if shown.volume + spread.0 < booked.volume || shown.money + spread.1 < booked.money {
        return
      }
      let isRounded = quote.rounding != .exact && shown != (0, 0)
      var next = (
        volume: max(booked.volume, shown.volume - spread.0),
        money: max(booked.money, shown.money - spread.1)
      )
      if next.volume == 0 { next.money = 0 }
      defer { isCoarse = isRounded }
      guard next != booked else { return }
      place = max(place, Session.minute(of: Int(quote.secondOfDay)))
      let now = (
        volume: truth.volume.units, money: try truth.turnover.rescaled(places: 2).units
      )
      volume[place] += now.volume - seen.volume
      money[place] += now.money - seen.money
      if isRounded || isCoarse { coarse.insert(place) }
      seen = now
      booked = next
    }
  }

  private func take(_ answer: Answer, into tape: inout Tape) {
    if answer.isFirstOfSource {
      tape.book.sourceChanged(
        at: Timestamp(day: tape.day, secondOfDay: answer.second).adding(seconds: 1))
    }
    tape.group = answer.isSecond ? 9 : 0
    let isLunch = (Session.morningClose..<Session.afternoonOpen).contains(answer.second)
    let watermark = isLunch && answer.isSecond ? Session.morningClose : answer.second
    tape.take(answer.quote, seenAt: Timestamp(day: tape.day, secondOfDay: watermark))
  }

  private func restart(_ tape: inout Tape) throws {
    var book = CandleBook()
    try book.restore(sharedState: tape.book.sharedState)
    try book.restore(instrument: tape.symbol, state: tape.book.instrumentState(at: 0))
    tape.book = book
  }

  @Test(arguments: ["sz000001", "sh688981"], [12, 300, 3000])
  func `the account adds up, and only coarse minutes are off, by less than a lot`(
    symbol: String, tradesMax: Int
  ) throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    for round in 0..<6 {
      var tape = Tape(symbol)
      let comment = Comment(rawValue: "seed \(seed), round \(round)")
      let isStar = symbol.hasPrefix("sh688")
      let lot: Int64 = Bool.random(using: &random) ? 1 : 100
      let day = try TradedDay(tape, tradesMax: tradesMax, lot: lot, random: &random)
      let answers = answers(day, isStar: isStar, changesMax: 8, random: &random)
      let isLastRounded = answers.last?.isSecond == true && !isStar
      var (copy, ledger) = (tape, Ledger())
      for answer in answers {
        take(answer, into: &tape)
        take(answer, into: &copy)
        if Int.random(in: 0..<200, using: &random) == 0 { try restart(&copy) }
        try ledger.see(answer.quote, truth: truth(of: answer, day))
      }
      tape.advance(to: "15:40:00")
      copy.advance(to: "15:40:00")
      try expectAccount(tape, day, isCoarse: isLastRounded, comment)
      try expectMinutes(tape, ledger, comment)
      #expect(copy.kept.ordered == tape.kept.ordered, comment)
      #expect(copy.output.certificates == tape.output.certificates, comment)
    }
  }

  /// The state that the row shows: its money tells it, for a trade is worth more than the rounding.
  private func truth(of answer: Answer, _ day: TradedDay) -> Quote {
    guard answer.isSecond else { return answer.quote }
    for lag in 0...6 {
      let quote = day.quote(at: answer.second - lag)
      if quote.turnover.rounded(places: 0) == answer.quote.turnover.rounded(places: 0) {
        return quote
      }
    }
    return answer.quote
  }

  private func expectAccount(
    _ tape: Tape, _ day: TradedDay, isCoarse: Bool, _ comment: Comment
  ) throws {
    let kept = tape.kept
    let certificate = try #require(kept.certificate, comment)
    #expect(certificate.isBalanced, comment)
    #expect(tape.disputes.isEmpty && tape.output.gaps.isEmpty, comment)
    let ones = tape.output.candles.filter { $0.timeframe == .minute1 }.map(\.openedAt)
    #expect(ones.count == 240 && Set(ones).count == 240, comment)
    let minutes = try kept.ordered.reduce(ExactDecimal.zero) { try $0 + $1.volume }
    let money = try kept.ordered.reduce(ExactDecimal.zero) { try $0 + ($1.turnover ?? .zero) }
    #expect(minutes == certificate.minuteVolume && money == certificate.minuteTurnover, comment)
    let truth = day.quote(at: 15 * 3600 + 60)
    let exchangeVolume = try #require(certificate.exchangeVolume, comment)
    let exchangeTurnover = try #require(certificate.exchangeTurnover, comment)
    #expect(certificate.isCoarse == (isCoarse && truth.volume.isPositive), comment)
    if certificate.isCoarse {
      let missing = try truth.volume - exchangeVolume
      let unpaid = try truth.turnover - exchangeTurnover
      #expect((ExactDecimal.zero...ExactDecimal(100)).contains(missing), comment)
      #expect((ExactDecimal.zero...ExactDecimal(2)).contains(unpaid), comment)
    } else {
      #expect(exchangeVolume == truth.volume && exchangeTurnover == truth.turnover, comment)
    }
  }

  private func expectMinutes(_ tape: Tape, _ ledger: Ledger, _ comment: Comment) throws {
    for candle in tape.kept.ordered {
      let minute = Session.minute(of: candle.closedAt.shanghaiSecondOfDay)
      let place = Comment(rawValue: "\(comment), minute \(minute)")
      #expect(!candle.volume.isNegative && candle.turnover?.isNegative == false, place)
      #expect(candle.flags.contains(.coarse) == ledger.coarse.contains(minute), place)
      let volume = ledger.volume[minute]
      if candle.flags.contains(.coarse) {
        #expect((volume - 100...volume + 100).contains(candle.volume.units), place)
      } else {
        #expect(candle.volume.units == volume, place)
        #expect(
          candle.turnover == ExactDecimal(units: ledger.money[minute], scale: 2), place)
      }
    }
  }
}
