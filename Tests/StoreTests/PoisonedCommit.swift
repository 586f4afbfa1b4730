import Commits
import Market
import Store
import TestSupport

/// A commit with rows of every kind, some of which the database of `PoisonedCommit.constraints`
/// refuses; how many of each is counted.
struct PoisonedCommit {
  var samples: StoreSamples
  var commit: Commit
  /// Rows that must be refused and rows that must be stored, by the kind `rejected.detail` says.
  private(set) var poisoned: [String: Int] = [:]
  private(set) var good: [String: Int] = [:]
  private var chance: ClosedRange<Int>

  /// Most invariants are the schema's own; where it has none, one is added.
  static let constraints = """
    alter table candled.overview add constraint poison check (last <> 666);
    alter table candled.source_health add constraint poison check (requests >= 0);
    alter table candled.day_audit add constraint poison check (minutes_traded <= 240);
    alter table candled.rejected add constraint poison check (reason <> 'duplicate');
    alter table candled.instrument_list add constraint poison check (rows >= 0);
    alter table candled.bar_watermark add constraint poison check (chunk not like 'poison%');
    alter table candled.instrument add constraint poison check (name <> 'poison')
    """

  /// Of each `among` rows about one is poisoned.
  init(seed: UInt64, position: Int64, rows: Int, among: Int) {
    samples = StoreSamples(seed: seed)
    chance = 1...among
    let minute = Int(position) % Session.minutesPerDay
    commit = Commit(
      position: JournalPosition(position),
      knownAt: Timestamp(day: StoreSamples.day, secondOfDay: Session.closing(ofMinute: minute)))
    fillAccount(rows, minute)
    fillLedger(rows, position)
    fillReference(rows, position)
  }

  private mutating func isPoisoned(_ kind: String) -> Bool {
    let isPoisoned = Int.random(in: chance, using: &samples.random) == 1
    if isPoisoned { poisoned[kind, default: 0] += 1 } else { good[kind, default: 0] += 1 }
    return isPoisoned
  }

  private static let minusOne = ExactDecimal(-1)

  private mutating func fillAccount(_ rows: Int, _ minute: Int) {
    for number in 0..<rows {
      var quote = samples.quote(number, second: Session.closing(ofMinute: minute))
      if isPoisoned("quote") { quote.quote.volume = Self.minusOne }
      commit.quotes.append(quote)
      var candle = samples.candle(number, minute: minute)
      if isPoisoned("candle") { candle.volume = Self.minusOne }
      commit.candles.append(candle)
      var revision = samples.candle(number + rows, minute: minute)
      if isPoisoned("revision") { revision.low = Self.minusOne }
      commit.revisions.append(Revision(candle: revision, cause: .latePrint))
      commit.bars.append(bar(number, minute))
      var row = InstrumentRow(
        symbol: StoreSamples.symbol(9_000 + rows * minute + number), source: .live)
      row.name = isPoisoned("instrument") ? "poison" : "good"
      commit.instruments.append(row)
    }
  }

  private mutating func bar(_ number: Int, _ minute: Int) -> BarBatch {
    var bar = samples.candle(number, minute: minute)
    bar.symbol = Symbol("A" + String(repeating: "B", count: number % 4)) ?? bar.symbol
    bar.openedAt = bar.openedAt.adding(
      seconds: commit.position.sequence * 86_400 + Int64(60 * (number / 4)))
    bar.closedAt = bar.openedAt.adding(seconds: 60)
    bar.source = .alpacaIEX
    if isPoisoned("bar") { bar.turnover = Self.minusOne }
    return BarBatch(
      symbol: bar.symbol, source: .alpacaIEX, timeframe: .minute1, candles: [bar],
      receivedAt: commit.knownAt)
  }

  private mutating func fillLedger(_ rows: Int, _ position: Int64) {
    for number in 0..<rows {
      commit.gaps.append(
        Gap(
          symbol: StoreSamples.symbol(number), tradingDay: StoreSamples.day,
          from: StoreSamples.start, to: commit.knownAt.adding(seconds: 1),
          volume: isPoisoned("gap") ? Self.minusOne : samples.shares(),
          turnover: samples.money(), cause: .outage))
      commit.certificates.append(
        DayCertificate(
          symbol: StoreSamples.symbol(number),
          tradingDay: TradingDay(
            daysSince1970: StoreSamples.day.daysSince1970 - 1 - Int32(position)),
          exchangeVolume: samples.shares(), exchangeTurnover: samples.money(),
          minuteVolume: samples.shares(), minuteTurnover: samples.money(),
          gapVolume: samples.shares(), gapTurnover: samples.money(),
          afterHoursVolume: .zero, afterHoursTurnover: .zero,
          minutesTraded: isPoisoned("audit") ? 241 : 200, minutesUntraded: 0, minutesMissing: 0))
      let isBad = isPoisoned("rejection")
      commit.rejections.append(
        Rejection(
          source: .sina, receivedAt: commit.knownAt, symbol: StoreSamples.symbol(number),
          reason: isBad ? .duplicate : .malformed, detail: "row \(number)",
          payload: Array("\(position) \(number)".utf8)))
      commit.reference.overview.append(
        OverviewRow(
          symbol: "index \(number)", name: nil,
          last: isPoisoned("overview") ? ExactDecimal(666) : ExactDecimal(position),
          change: .zero, percentChange: .zero, at: commit.knownAt))
      commit.reference.health.append(
        SourceHealthRow(
          source: .sina, endpoint: "endpoint \(number)", state: .up, since: StoreSamples.start,
          lastSuccessAt: nil, requests: isPoisoned("health") ? -position : position, failures: 0,
          detail: ""))
    }
  }

  private mutating func fillReference(_ rows: Int, _ position: Int64) {
    for number in 0..<rows {
      let symbol = StoreSamples.symbol(number)
      commit.reference.instrumentMarks.append(
        InstrumentMarks(
          symbol: symbol, source: .live,
          missedLists: isPoisoned("marks") ? -Int16(position) : Int16(position)))
      commit.reference.factors.append(
        FactorBatch(
          source: .sina,
          factors: [
            AdjustmentFactor(
              symbol: symbol, kind: .qfq, from: StoreSamples.day,
              factor: isPoisoned("factors") ? ExactDecimal(-position) : ExactDecimal(position))
          ]))
      commit.reference.lists.append(
        ListVerdict(
          source: .mairui, part: "part \(number)", decidedAt: commit.knownAt,
          rows: isPoisoned("list") ? -1 : 5_000, contentHash: 7, verdict: .accepted, detail: ""))
      commit.reference.sessions.append(
        MarketSession(
          exchange: .unitedStates,
          day: TradingDay(daysSince1970: Int32(position) * 100 + Int32(number)),
          opens: StoreSamples.start,
          closes: StoreSamples.start.adding(seconds: isPoisoned("session") ? -1 : 60)))
      commit.reference.keyUsage.append(
        KeyUsage(
          source: .mairui, label: "key \(number)", day: StoreSamples.day,
          requests: isPoisoned("key usage") ? -Int(position) : Int(position)))
      let name = isPoisoned("watermark") ? "poison" : "chunk"
      commit.reference.watermarks.append(
        BarWatermark(
          source: .alpacaIEX, chunk: "\(name) \(position) \(number)", timeframe: .minute1,
          through: commit.knownAt))
    }
  }
}
