import Market
import Postgres

/// Days that a source's own bars could make better, for whoever plans repairs.
extension RepairTable {
  private static let readCandidates = Statement(
    name: "query_repair_candidates",
    sql: """
      with reasons as (
        select trading_day, instrument_id, 3::smallint as want, last_sighting_at
        from gap
        where trading_day >= $1::date
          and known_to is null
          and permanent_at is null
        union all
        select trading_day, instrument_id,
          case when balanced is not true then 2 when coarse then 1 else 0 end, null
        from day_audit
        where trading_day >= $1::date
          and (balanced is not true or coarse or repaired_at is null)
        union all
        select c.trading_day, c.instrument_id, 1, null
        from candle c
        left join day_audit a using (trading_day, instrument_id)
        where c.trading_day >= $1::date
          and a.repaired_at is null
          and c.opened_at >= $1::date - interval '1 day'
          and c.timeframe = 1
          and c.flags & 6 <> 0
      )
      select r.trading_day, i.symbol, max(r.want)::smallint, min(r.last_sighting_at)
      from reasons r
      join instrument i on i.id = r.instrument_id
      where i.source = $2::smallint
      group by r.trading_day, i.symbol
      order by 1, 3 desc, 2
      """)

  /// The days of a source from `first` on that bars could make better, the neediest of each day
  /// first. Gaps that were accepted for good do not count.
  func candidates(
    from first: TradingDay, of source: Source
  ) throws(StoreError) -> [RepairCandidate] {
    let parameters = WireParameters(.day(first), .int16(source.rawValue))
    var candidates: [RepairCandidate] = []
    for var row in try connection.run(Self.readCandidates, with: parameters, context: "load").rows {
      let day = try row.day()
      let symbol = try row.symbol()
      guard let want = RepairCandidate.Want(rawValue: Int(try row.int16())) else {
        throw row.malformed()
      }
      candidates.append(
        RepairCandidate(
          symbol: symbol, day: day, want: want, lastCheckedAt: try row.optionalTimestamp()))
    }
    return candidates
  }
}

extension StoreWriter {
  /// The A-share days from `day` on that ready-made bars could make better.
  /// - Throws: `connectionLost`, `malformed`.
  package func repairCandidates(
    from day: TradingDay
  ) throws(StoreError) -> [RepairCandidate] {
    try session.opened().repairs.candidates(from: day, of: .live)
  }
}

extension HistoryWriter {
  /// The candidates, as the daemon's writer has them.
  package func repairCandidates(
    from day: TradingDay
  ) throws(StoreError) -> [RepairCandidate] {
    try session.opened().repairs.candidates(from: day, of: .live)
  }
}
