import Feeds
import Market
import Testing

@testable import Ingest

extension Source {
  fileprivate static let other = Source(rawValue: 92)
}

@Suite struct DayWatchTests {
  private static let monday = TradingDay(daysSince1970: 20_640)
  private static let friday = monday.advanced(by: -3)
  private static let closed = DayFinding.closed(monday, keeps: friday)

  private var watch = DayWatch(.mainlandChina)

  private func moment(_ hour: Int, _ minute: Int, _ second: Int = 0) -> Timestamp {
    Timestamp(day: Self.monday, secondOfDay: hour * 3_600 + minute * 60 + second)
  }

  /// A response whose rows are all stamped so long before it, or at the last close.
  private mutating func hear(
    _ source: Source, at now: Timestamp, old seconds: Int64? = nil
  ) -> [DayFinding] {
    let close = Timestamp(day: Self.friday, secondOfDay: Session.afternoonClose)
    return watch.received(
      DayWatch.Response(
        source: source, newest: seconds.map { now.adding(seconds: -$0) } ?? close,
        isOfToday: seconds != nil, receivedAt: now))
  }

  @Test mutating func `two sources with one earlier date are a closed day, half a minute in`() {
    #expect(hear(.live, at: moment(9, 30, 6)).isEmpty)
    #expect(hear(.other, at: moment(9, 30, 9)).isEmpty)
    #expect(hear(.live, at: moment(9, 30, 29)).isEmpty)
    #expect(hear(.live, at: moment(9, 30, 30)) == [Self.closed])
    #expect(watch.dateKept(on: Self.monday) == Self.friday)
    #expect(hear(.live, at: moment(9, 31)).isEmpty)
    #expect(hear(.live, at: moment(15, 9, 59)).isEmpty)
    #expect(hear(.live, at: moment(15, 10)) == [.observedClosed(Self.monday)])
    #expect(hear(.live, at: moment(15, 11)).isEmpty)
    let tuesday = moment(9, 0).adding(seconds: 86_400)
    #expect(hear(.live, at: tuesday, old: 1) == [.opened(Self.monday.advanced(by: 1))])
  }

  @Test mutating func `one source alone is believed once it was watched for half an hour`() {
    #expect(hear(.live, at: moment(9, 20)).isEmpty)
    #expect(hear(.live, at: moment(9, 59, 59)).isEmpty)
    #expect(hear(.live, at: moment(10, 0)) == [Self.closed])
    for begins in [11, 20] {
      watch = DayWatch(.mainlandChina)
      #expect(hear(.live, at: moment(begins, 0)).isEmpty)
      #expect(hear(.live, at: moment(begins, 29, 59)).isEmpty)
      #expect(hear(.live, at: moment(begins, 30)) == [Self.closed])
    }
  }

  @Test mutating func `one of several sources confirms no closed day`() {
    watch.sourcesConfigured = 2
    _ = hear(.live, at: moment(9, 20))
    #expect(hear(.live, at: moment(10, 0)) == [Self.closed])
    // An answer of the morning says nothing of the afternoon.
    _ = hear(.other, at: moment(10, 1))
    #expect(hear(.live, at: moment(15, 10)).isEmpty)
    let evening = watch
    let tuesday = moment(9, 0).adding(seconds: 86_400)
    #expect(hear(.live, at: tuesday) == [.unproven(Self.monday)])
    watch = evening
    #expect(hear(.other, at: moment(15, 11)) == [.observedClosed(Self.monday)])
  }

  @Test mutating func `the first rows of today open the day, and an old source is stale`() {
    _ = hear(.other, at: moment(9, 40))
    #expect(hear(.live, at: moment(9, 41)) == [Self.closed])
    #expect(hear(.other, at: moment(9, 42), old: 2) == [.opened(Self.monday)])
    #expect(watch.isOpen(Self.monday) && watch.dateKept(on: Self.monday) == nil)
    #expect(hear(.live, at: moment(9, 43)) == [.stale(.live, keeps: Self.friday)])
    #expect(hear(.live, at: moment(9, 44)).isEmpty)
  }

  @Test mutating func `a closed day that was not watched to its end is not proven`() {
    _ = hear(.live, at: moment(9, 20))
    #expect(hear(.live, at: moment(11, 0)) == [Self.closed])
    let tuesday = moment(9, 0).adding(seconds: 86_400)
    #expect(
      hear(.live, at: tuesday, old: 1) == [
        .unproven(Self.monday), .opened(Self.monday.advanced(by: 1)),
      ])
  }

  @Test mutating func `rows of few instruments decide nothing`() {
    let response = DayWatch.Response(
      source: .live, newest: moment(10, 29), isOfToday: false, receivedAt: moment(10, 30))
    #expect(watch.received(response).isEmpty)
    #expect(!watch.isOpen(Self.monday) && watch.dateKept(on: Self.monday) == nil)
  }

  @Test mutating func `an exchange stands still once both sources do, and moves with either`() {
    let stamp = moment(10, 9, 58)
    #expect(hear(.live, at: moment(10, 10), old: 2) == [.opened(Self.monday)])
    #expect(hear(.live, at: moment(10, 10, 9), old: 11).isEmpty)
    #expect(hear(.live, at: moment(10, 10, 12), old: 14).isEmpty)
    #expect(hear(.other, at: moment(10, 10, 13), old: 15) == [.standsStill(since: stamp)])
    #expect(watch.provenThrough(moment(10, 20)) == moment(10, 19, 54))
    #expect(hear(.live, at: moment(10, 20), old: 602).isEmpty)
    #expect(hear(.other, at: moment(10, 20, 2), old: 1) == [.moves(since: stamp)])
    #expect(watch.provenThrough(moment(10, 21)) == nil)
  }

  @Test(arguments: [0, 14, 100, -100] as [Int64])
  mutating func `sources that lag behind our clock and move are no standstill`(_ lag: Int64) {
    for second in stride(from: 0, to: 120, by: 3) {
      for source in [Source.live, .other] {
        let findings = hear(source, at: moment(10, second / 60, second % 60), old: lag)
        #expect(findings.allSatisfy { $0 == .opened(Self.monday) }, "\(findings)")
      }
    }
    let stamp = moment(10, 1, 57).adding(seconds: -lag)
    #expect(hear(.live, at: moment(10, 2, 20), old: lag + 23).isEmpty)
    #expect(hear(.other, at: moment(10, 2, 20), old: lag + 23) == [.standsStill(since: stamp)])
    #expect(watch.provenThrough(moment(10, 3)) == moment(10, 2, 54).adding(seconds: -lag))
  }

  @Test mutating func `a standstill that began before the start is found, and as long`() {
    let stamp = moment(9, 59, 58)
    for (second, age) in [(0, 3_602), (12, 3_614)] as [(Int, Int64)] {
      #expect(hear(.live, at: moment(11, 0, second), old: age).count < 2)
      let findings = hear(.other, at: moment(11, 0, second), old: age)
      #expect(findings == (second == 12 ? [.standsStill(since: stamp)] : []))
    }
    #expect(watch.provenThrough(moment(11, 1)) == moment(11, 0, 54))
  }

  @Test mutating func `a source that moves behind another is no standstill`() {
    _ = hear(.other, at: moment(10, 0), old: -100)
    for second in stride(from: 0, to: 60, by: 3) {
      let findings = hear(.live, at: moment(10, 0, second), old: 1)
      #expect(findings.isEmpty, "\(findings)")
      if second == 30 { #expect(hear(.other, at: moment(10, 0, 30), old: -70).isEmpty) }
    }
  }

  @Test mutating func `noon and the closing auction are no standstill`() {
    for (at, stamp) in [
      (moment(13, 0, 5), moment(11, 30, 3)), (moment(14, 58), moment(14, 56, 59)),
      (moment(15, 20), moment(15, 0, 3)),
    ] {
      for source in [Source.live, .other] {
        let response = DayWatch.Response(
          source: source, newest: stamp, isOfToday: true, receivedAt: at)
        let findings = watch.received(response)
        #expect(findings.allSatisfy { $0 == .opened(Self.monday) })
      }
    }
  }
}
