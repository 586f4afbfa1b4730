import Commits
import Market
import Postgres

/// Adjustment factors. Files of them, and days on which the exchange says that something changed,
/// come in; what is served goes out, each step beside what it rests on. What was served before ends
/// and stays.
struct FactorTable: TableGroup {
  let session: WriterSession

  /// An instrument whose factors are looked at anew.
  private struct Review {
    var symbol: Symbol
    var files: [AdjustmentFactor.Kind: [TradingDay: AdjustmentFactor]] = [:]
    /// Those that the file lacks.
    var exDays: Set<TradingDay> = []
    /// That the exchange contradicted already.
    var contradicted: Set<TradingDay> = []
    var evidence: [TradingDay: FactorStep.Evidence] = [:]

    var days: Set<TradingDay> { files.values.reduce(into: exDays) { $0.formUnion($1.keys) } }

    var served: [ServedFactor] {
      let instrument = Instrument.classify(symbol)
      let chain = FactorChain(
        ofFund: instrument?.kind == .fund,
        tick: instrument?.tickSize ?? ExactDecimal(units: 1, scale: 2), evidence: evidence)
      return chain.served(files.mapValues { $0.values.sorted { $0.from < $1.from } })
    }
  }

  func replace(_ batches: [FactorBatch], in context: inout CommitContext) throws(StoreError) {
    var reviews: [Int32: Review] = [:]
    for batch in batches {
      for factor in batch.factors {
        let id = id(of: factor.symbol, source: batch.source)
        reviews[id, default: Review(symbol: factor.symbol)]
          .files[factor.kind, default: [:]][factor.from] = factor
      }
      for exDay in batch.exDays where Self.hasFactors(exDay.symbol) {
        let id = id(of: exDay.symbol, source: batch.source)
        reviews[id, default: Review(symbol: exDay.symbol)].exDays.insert(exDay.day)
      }
    }
    try replace(reviews, in: &context)
  }

  private static let readUnrecorded = Statement(
    name: "read_unrecorded_factors",
    sql: """
      select distinct i.id, i.symbol
      from adjustment_factor f
      join instrument i on i.id = f.instrument_id
      where f.from_day = $1::date
        and f.exception = 'unrecorded'
        and f.known_to is null
      """)

  /// Steps that were filed before their day: to be called once it is certified.
  func test(_ day: TradingDay, in context: inout CommitContext) throws(StoreError) {
    var reviews: [Int32: Review] = [:]
    for var row in try run(Self.readUnrecorded, with: WireParameters(.day(day))).rows {
      reviews[try row.int32()] = Review(symbol: try row.symbol())
    }
    try replace(reviews, in: &context)
  }

  private func replace(
    _ reviews: [Int32: Review], in context: inout CommitContext
  ) throws(StoreError) {
    if reviews.isEmpty { return }
    var reviews = reviews
    try readStored(into: &reviews)
    try readEvidence(into: &reviews)
    var rows: [Identified<ServedFactor>] = []
    for (id, review) in reviews.sorted(by: { $0.key < $1.key }) {
      let served = review.served
      rows += served.map { Identified(id: id, row: $0) }
      report(served, of: review, in: &context)
    }
    try write(rows, of: reviews.keys.sorted(), in: &context)
  }

  private static func hasFactors(_ symbol: Symbol) -> Bool {
    switch Instrument.classify(symbol)?.kind {
    case .stock, .fund, .bShare: true
    case .index, .convertibleBond, .repo, nil: false
    }
  }

  /// What is new: of each no more than one alarm.
  private func report(
    _ served: [ServedFactor], of review: Review, in context: inout CommitContext
  ) {
    let days = Set(served.filter { $0.step?.verdict == .contradicted }.map(\.from))
    context.receipt.contradictedFactors += days.subtracting(review.contradicted).sorted().map {
      "\(review.symbol) \($0)"
    }
  }

  // MARK: What is stored

  private static let readFactors = Statement(
    name: "read_factors",
    sql: """
      select f.instrument_id, f.kind, f.from_day, f.filed, f.is_fund, f.filed_cash, f.filed_split,
        f.verdict
      from adjustment_factor f
      where f.instrument_id = any ($1::int[])
        and f.kind in (1, 2)
        and f.known_to is null
      """)

  /// The files that did not come now.
  private func readStored(into reviews: inout [Int32: Review]) throws(StoreError) {
    let incoming = reviews.mapValues { Set($0.files.keys) }
    let ids = WireParameters(.int32s(reviews.keys.sorted()))
    for var row in try run(Self.readFactors, with: ids).rows {
      let id = try row.int32()
      let code = try row.int16()
      guard let symbol = reviews[id]?.symbol, let kind = AdjustmentFactor.Kind(rawValue: code)
      else { continue }
      let (day, filed, isFund) = (try row.day(), try row.optionalNumeric(), try row.bool())
      let fund = AdjustmentFactor.FundTotals(
        cash: try row.optionalNumeric(), split: try row.optionalNumeric())
      if try row.optionalText() == FactorStep.Verdict.contradicted.rawValue {
        reviews[id]?.contradicted.insert(day)
      }
      guard let filed else {
        reviews[id]?.exDays.insert(day)
        continue
      }
      if incoming[id]?.contains(kind) == true { continue }
      reviews[id]?.files[kind, default: [:]][day] = AdjustmentFactor(
        symbol: symbol, kind: kind, from: day, factor: filed, fund: isFund ? fund : nil)
    }
  }

  /// The last price before a day is the close, or, of what did not trade since, the previous close
  /// of the day before. Only what the exchange says of a day can be tested; but what a fund's cash
  /// is worth depends on its price, of not too long ago.
  private static let readExDays = Statement(
    name: "read_ex_days",
    sql: """
      select k.instrument_id, k.day, e.previous_close,
        case
          when d.trading_day > coalesce(c.trading_day, '-infinity') then d.previous_close
          else c.close
        end,
        coalesce(greatest(c.trading_day, d.trading_day) = p.day, false)
      from unnest($1::int[], $2::date[]) k (instrument_id, day)
      join instrument i on i.id = k.instrument_id
      join source s on s.code = i.source
      join market m on m.code = s.market
      left join day_audit a on a.instrument_id = k.instrument_id and a.trading_day = k.day
      left join quote q on q.instrument_id = k.instrument_id and q.trading_day = k.day
      cross join lateral (
        select coalesce(a.previous_close, nullif(q.previous_close, 0)) as previous_close
      ) e
      left join lateral (
        select l.trading_day, l.close
        from candle l
        where l.instrument_id = k.instrument_id
          and l.timeframe = 240
          and l.opened_at < k.day::timestamp at time zone m.zone
          and l.opened_at > case
            when i.kind = 2 then (k.day - 30)::timestamp at time zone m.zone
            else '-infinity'
          end
          and (e.previous_close is not null or i.kind = 2)
        order by l.opened_at desc
        limit 1
      ) c on true
      left join lateral (
        select max(t.day) as day
        from market_session t
        where t.exchange = m.calendar
          and t.day < k.day
          and t.known_to is null
          and t.opens < t.closes
          and e.previous_close is not null
      ) p on true
      left join day_audit d
        on d.instrument_id = k.instrument_id
        and d.trading_day = p.day
        and d.exchange_volume = 0
      """)

  private func readEvidence(into reviews: inout [Int32: Review]) throws(StoreError) {
    let keys = reviews.flatMap { id, review in
      review.days.map { DayKey(instrument: id, day: $0) }
    }.sorted()
    let parameters = WireParameters(
      .int32s(keys.map(\.instrument)), .days(keys.map(\.day)))
    for var row in try run(Self.readExDays, with: parameters).rows {
      let (id, day) = (try row.int32(), try row.day())
      reviews[id]?.evidence[day] = FactorStep.Evidence(
        previousClose: try row.optionalNumeric(), close: try row.optionalNumeric(),
        isCloseSeen: try row.bool())
    }
  }

  // MARK: What is served

  private static let incoming = """
    select *
    from unnest(
        $1::int[], $2::smallint[], $3::date[], $4::numeric[], $5::numeric[], $6::bool[],
        $7::numeric[], $8::numeric[], $9::text[], $10::text[], $11::text[])
      r (instrument_id, kind, from_day, factor, filed, is_fund, filed_cash, filed_split, basis,
        verdict, exception)
    """

  /// What holds no more ends …
  private static let end = Statement(
    name: "end_factors",
    sql: """
      update adjustment_factor a
      set known_to = greatest($12::timestamptz, a.known_from)
      where a.known_to is null
        and a.instrument_id = any ($13::int[])
        and not exists (
          select
          from (\(incoming)) t
          where (t.instrument_id, t.kind, t.from_day) = (a.instrument_id, a.kind, a.from_day)
            and (t.factor, t.filed, t.is_fund, t.filed_cash, t.filed_split, t.basis, t.verdict,
                t.exception)
              is not distinct from (a.factor, a.filed, a.is_fund, a.filed_cash, a.filed_split,
                a.basis, a.verdict, a.exception))
      """)

  /// … before what is new begins: the index of current factors is checked row by row.
  private static let add = Statement(
    name: "add_factors",
    sql: """
      insert into adjustment_factor
        (instrument_id, kind, from_day, factor, filed, is_fund, filed_cash, filed_split, basis,
        verdict, exception, known_from)
      select t.*, $12::timestamptz
      from (\(incoming)) t
      where not exists (
        select
        from adjustment_factor a
        where a.known_to is null
          and (a.instrument_id, a.kind, a.from_day) = (t.instrument_id, t.kind, t.from_day))
      on conflict (instrument_id, kind, from_day, known_from) do update
      set
        factor = excluded.factor, filed = excluded.filed, is_fund = excluded.is_fund,
        filed_cash = excluded.filed_cash, filed_split = excluded.filed_split,
        basis = excluded.basis, verdict = excluded.verdict, exception = excluded.exception,
        known_to = null
      """)

  private func write(
    _ rows: [Identified<ServedFactor>], of ids: [Int32], in context: inout CommitContext
  ) throws(StoreError) {
    let knownAt = context.knownAt
    func parameters() -> WireParameters {
      return WireParameters(
        .array(rows, type: .int4) { $0.int32($1.id) },
        .array(rows, type: .int2) { $0.int16($1.row.series.rawValue) },
        .array(rows, type: .date) { $0.date($1.row.from) },
        .array(rows, type: .numeric) { $0.optionalNumeric($1.row.factor) },
        .array(rows, type: .numeric) { $0.optionalNumeric($1.row.filed?.factor) },
        .array(rows, type: .bool) { $0.bool($1.row.filed?.fund != nil) },
        .array(rows, type: .numeric) { $0.optionalNumeric($1.row.filed?.fund?.cash) },
        .array(rows, type: .numeric) { $0.optionalNumeric($1.row.filed?.fund?.split) },
        .array(rows, type: .text) { $0.text(($1.row.step?.basis ?? .file).rawValue) },
        .array(rows, type: .text) { $0.optionalText($1.row.step?.verdict.rawValue) },
        .array(rows, type: .text) { $0.optionalText($1.row.step?.exception?.rawValue) },
        .timestamp(knownAt))
    }
    var ending = parameters()
    ending.add { $0.array(ids, type: .int4) { $0.int32($1) } }
    let ended = try run(Self.end, with: ending).affectedRows
    let added = try run(Self.add, with: parameters()).affectedRows
    if ended + added > 0 { context.keys.factors += ids }
    context.receipt.reference += ended + added
  }
}
