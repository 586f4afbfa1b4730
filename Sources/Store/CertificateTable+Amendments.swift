import Commits
import Market
import Postgres

/// Days that were repaired and then amended by the exchange. The book still holds its own account
/// of such a day, gaps and all, while the tables hold the bars'. Its totals are the exchange's and
/// count; its minutes and gaps would undo the repair, and do not. What the totals grew by since is
/// a gap at the close, for the next repair to find.
extension CertificateTable {
  private static let readRepaired = Statement(
    name: "read_repaired_days",
    sql: """
      select instrument_id, trading_day
      from day_audit
      where trading_day = any ($1::date[])
        and instrument_id = any ($2::int[])
        and repaired_at is not null
      """)

  /// What of a commit concerns such days. Asks only where something is said about a day's account
  /// beside new minutes, or where those may not be new: a repair stores what its day has of them,
  /// also what is still in the journal then.
  func findRepairedDays(
    _ commit: Commit, in context: inout CommitContext
  ) throws(StoreError) {
    var keys: Set<DayKey> = []
    for certificate in commit.certificates {
      let instrument = id(of: certificate.symbol, source: certificate.source)
      keys.insert(DayKey(instrument: instrument, day: certificate.tradingDay))
    }
    for gap in commit.gaps + commit.closedGaps {
      let instrument = id(of: gap.symbol, source: gap.source)
      keys.insert(DayKey(instrument: instrument, day: gap.tradingDay))
    }
    let delivered = context.stagesCandles ? commit.candles : []
    for candle in delivered + commit.revisions.map(\.candle) where candle.timeframe == .minute1 {
      keys.insert(
        DayKey(instrument: id(of: candle.symbol, source: candle.source), day: candle.tradingDay))
    }
    if keys.isEmpty { return }
    let days = Set(keys.map(\.day)).sorted()
    for day in days { try lock(day) }
    let instruments = Set(keys.map(\.instrument)).sorted()
    let parameters = WireParameters(.days(days), .int32s(instruments))
    for var row in try run(Self.readRepaired, with: parameters).rows {
      context.repaired.insert(DayKey(instrument: try row.int32(), day: try row.day()))
    }
  }

  /// The sums are taken from the tables; `told` is what the book says of the exchange's totals:
  /// coarse ones are lower bounds, which take nothing back from what a repair found.
  private static let amend = Statement(
    name: "amend_repaired_days",
    sql: """
      with told as (
        select *
        from unnest(
            $1::int[], $2::date[], $3::numeric[], $4::numeric[], $5::numeric[], $6::numeric[],
            $7::smallint[], $8::bool[], $10::numeric[], $11::numeric[], $12::numeric[],
            $13::smallint[])
          r (instrument_id, trading_day, volume, turnover, after_volume, after_turnover, missing,
            coarse, previous_close, limit_up, limit_down, reference_source)
      ),
      sums as (
        select t.instrument_id, t.trading_day,
          case when t.coarse then greatest(t.volume, a.exchange_volume)
            else coalesce(t.volume, a.exchange_volume) end as volume,
          case when t.coarse then greatest(t.turnover, a.exchange_turnover)
            else coalesce(t.turnover, a.exchange_turnover) end as turnover,
          t.after_volume, t.after_turnover,
          t.coarse and (a.coarse or t.volume > a.exchange_volume
            or t.turnover > a.exchange_turnover) is true as coarse,
          least(t.missing, d.minutes - m.traded - m.untraded) as missing, m.*, g.*, d.closes_at,
          coalesce(t.previous_close, a.previous_close) as previous_close,
          coalesce(t.limit_up, a.limit_up) as limit_up,
          coalesce(t.limit_down, a.limit_down) as limit_down,
          coalesce(t.reference_source, a.reference_source) as reference_source
        from told t
        join day_audit a using (instrument_id, trading_day)
        \(DayAccount.sums)
      ),
      grown as (
        select *, volume - minute_volume - gap_volume as more_volume,
          turnover - minute_turnover - gap_turnover as more_turnover
        from sums
      ),
      opened as (
        insert into gap
          (instrument_id, trading_day, from_at, to_at, volume, turnover, cause, known_from)
        select instrument_id, trading_day, closes_at, closes_at, more_volume, more_turnover, 3,
          $9::timestamptz
        from grown
        where more_volume >= 0
          and more_turnover >= 0
          and more_volume + more_turnover > 0
        returning id, instrument_id, trading_day, volume, turnover
      ),
      certified as (
        update day_audit a
        set
          exchange_volume = s.volume,
          exchange_turnover = s.turnover,
          minute_volume = s.minute_volume,
          minute_turnover = s.minute_turnover,
          gap_volume = s.gap_volume + coalesce(o.volume, 0),
          gap_turnover = s.gap_turnover + coalesce(o.turnover, 0),
          after_hours_volume = s.after_volume,
          after_hours_turnover = s.after_turnover,
          minutes_traded = s.traded,
          minutes_untraded = s.untraded,
          minutes_missing = s.missing,
          coarse = s.coarse,
          previous_close = s.previous_close,
          limit_up = s.limit_up,
          limit_down = s.limit_down,
          reference_source = s.reference_source,
          known_from = $9::timestamptz
        from grown s
        left join opened o using (instrument_id, trading_day)
        where a.instrument_id = s.instrument_id
          and a.trading_day = s.trading_day
          and (a.exchange_volume, a.exchange_turnover, a.after_hours_volume,
              a.after_hours_turnover, a.minute_volume, a.minute_turnover, a.gap_volume,
              a.gap_turnover, a.coarse, a.previous_close, a.limit_up, a.limit_down)
            is distinct from (s.volume, s.turnover, s.after_volume, s.after_turnover,
              s.minute_volume, s.minute_turnover, s.gap_volume + coalesce(o.volume, 0),
              s.gap_turnover + coalesce(o.turnover, 0), s.coarse, s.previous_close, s.limit_up,
              s.limit_down)
        returning a.instrument_id, a.trading_day
      )
      select c.instrument_id, c.trading_day, o.id
      from certified c
      left join opened o using (instrument_id, trading_day)
      """)

  func amend(
    _ rows: [Identified<DayCertificate>], in context: inout CommitContext
  ) throws(StoreError) {
    if rows.isEmpty { return }
    var parameters = WireParameters()
    for column in Self.totals {
      parameters.add { $0.array(rows, type: column.type) { column.write(&$0, $1) } }
    }
    parameters.add { $0.timestamp(context.knownAt) }
    for column in Self.reference {
      parameters.add { $0.array(rows, type: column.type) { column.write(&$0, $1) } }
    }
    for var row in try run(Self.amend, with: parameters).rows {
      context.keys.certificates.append(DayKey(instrument: try row.int32(), day: try row.day()))
      context.receipt.certificates += 1
      if let gap = try row.optionalInt64() { context.keys.gaps.append(gap) }
    }
    context.receipt.gaps = context.keys.gaps.count
  }

  private static let totals: [RowTable<Identified<DayCertificate>>.Column] = [
    .int32("instrument_id") { $0.id },
    .day("trading_day") { $0.row.tradingDay },
    .numeric("exchange_volume") { $0.row.exchangeVolume },
    .numeric("exchange_turnover") { $0.row.exchangeTurnover },
    .numeric("after_hours_volume") { $0.row.afterHoursVolume },
    .numeric("after_hours_turnover") { $0.row.afterHoursTurnover },
    .int16("minutes_missing") { $0.row.minutesMissing },
    .bool("coarse") { $0.row.isCoarse },
  ]
}
