import ExchangeSimulator
import Feeds
import Market
import TestExchange
import TestSupport

/// When the live sources of the mainland refuse us on a day, and when the first of them answers
/// nothing of use: a function of the seed.
package struct BanPlan: Sendable {
  package struct Ban: Sendable {
    /// Place among the live sources in order of preference.
    package var place: Int
    /// Seconds of the day.
    package var seconds: Range<Int>
    package var kind: Fault.Kind
  }

  package private(set) var bans: [Ban] = []

  /// Over the open, over lunch and over the close.
  private static let edges = [
    (9 * 3600 + 24 * 60)..<(9 * 3600 + 31 * 60), (11 * 3600 + 28 * 60)..<(13 * 3600 + 60),
    (14 * 3600 + 57 * 60)..<(15 * 3600 + 2 * 60),
  ]
  private static let kinds = [Fault.Kind.forbidden, .throttled, .banPage]
  private static let silences = [Fault.Kind.reset, .internalError, .emptyBody]

  /// The first source is banned 1 to 8 times, both once; the first is silent once.
  package init(seed: UInt64) {
    var random = SplitMix(seed: seed &+ 0xBA)
    let count = 1 + Int(seed % 8)
    for number in 0..<count {
      // Of three bans or more one is over each edge; else one of them is over one.
      let edge = count >= 3 ? number : number == 0 ? Int(seed % 3) : Self.edges.count
      let seconds =
        edge < Self.edges.count
        ? Self.seconds(over: Self.edges[edge], &random) : Self.seconds(&random)
      bans.append(Ban(place: 0, seconds: seconds, kind: Self.kinds[number % Self.kinds.count]))
    }
    let both = Self.tradingSecond(&random)
    bans.append(Ban(place: 0, seconds: both..<(both + 300), kind: .forbidden))
    bans.append(Ban(place: 1, seconds: (both + 20)..<(both + 50), kind: .forbidden))
    let silent = Self.tradingSecond(&random)
    bans.append(
      Ban(
        place: 0, seconds: silent..<(silent + Int.random(in: 20..<240, using: &random)),
        kind: Self.silences[Int(seed / 3 % 3)]))
  }

  private static func seconds(over edge: Range<Int>, _ random: inout SplitMix) -> Range<Int> {
    let start = Int.random(in: edge.lowerBound..<(edge.lowerBound + 60), using: &random)
    return start..<(edge.upperBound + Int.random(in: 0..<120, using: &random))
  }

  private static func seconds(_ random: inout SplitMix) -> Range<Int> {
    let start = tradingSecond(&random)
    return start..<(start + Int.random(in: 5..<900, using: &random))
  }

  private static func tradingSecond(_ random: inout SplitMix) -> Int {
    let elapsed = Int.random(in: 300..<13_800, using: &random)
    return elapsed < 7_200 ? 34_200 + elapsed : 46_800 + elapsed - 7_200
  }

  private static let upstreams = [Fault.Upstream.sinaQuotes, .tencentQuotes]

  package func faults(on day: TradingDay) -> [Fault] {
    bans.map { ban in
      Fault(
        ban.kind, on: Self.upstreams[ban.place],
        from: Timestamp(day: day, secondOfDay: ban.seconds.lowerBound),
        to: Timestamp(day: day, secondOfDay: ban.seconds.upperBound))
    }
  }
}

/// Whether a source that refused us was left alone for as long as it must be: 1 min, 10 min after a
/// relapse within the hour, and then 60.
struct CoolDownVerifier {
  private static let seconds: [Int64] = [60, 600, 3_600]

  private var refusedAt: Timestamp?
  private var recoveredAt: Timestamp?
  private var level = 0
  private(set) var complaints: [String] = []

  mutating func asked(_ name: String, at moment: Timestamp) {
    guard let refusedAt else { return }
    let end = refusedAt.adding(seconds: Self.seconds[level])
    // Those of the moment of the refusal had been sent.
    if moment > refusedAt, moment < end {
      complaints.append(
        "\(name): asked at \(moment), refused at \(refusedAt), left alone to \(end)")
    }
  }

  mutating func answered(isRefused: Bool, at moment: Timestamp) {
    guard isRefused else {
      if refusedAt != nil { recoveredAt = moment }
      refusedAt = nil
      return
    }
    let isSameSweep = refusedAt == moment
    if isSameSweep { return }
    let isRelapse = recoveredAt.map { moment < $0.adding(seconds: 3_600) } ?? false
    level = refusedAt != nil || isRelapse ? min(level + 1, Self.seconds.count - 1) : 0
    refusedAt = moment
  }
}
