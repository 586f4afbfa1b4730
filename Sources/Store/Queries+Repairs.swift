import Market

/// Days that a source's own bars could make better, for whoever plans repairs.

/// Why a day is worth a repair, the most urgent first.
public enum RepairClass: Int16, Sendable, CaseIterable, Comparable {
  /// Trading is missing that may still be found.
  case gap = 1
  /// The certificate does not add up, or the day's end was not seen.
  case unbalanced = 2
  /// A minute of which only a part was seen.
  case partial = 3
  /// A minute whose extreme may be its neighbour's.
  case ambiguous = 4
  /// Nothing is wrong; no bars have confirmed it yet.
  case unconfirmed = 5

  public static func < (left: RepairClass, right: RepairClass) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// One instrument's day that a repair could make better.
public struct RepairCandidate: Sendable, Hashable {
  public var day: TradingDay
  public var symbol: Symbol
  /// The most urgent reason.
  public var reason: RepairClass
  /// When bars last settled anything of the day; nil if never.
  public var repairedAt: Timestamp?
}

extension Queries {
  private static let readCandidates = Statement(
    name: "query_repair_candidates",
    sql: """
      with reasons as (
        select trading_day, instrument_id, 1::smallint as reason
        from gap
        where trading_day >= $1::date
          and known_to is null
          and permanent_at is null
        union all
        select trading_day, instrument_id,
          case
            when balanced is not true then 2
            when repaired_at is null then 5
          end
        from day_audit
        where trading_day >= $1::date
          and (balanced is not true or repaired_at is null)
        union all
        select trading_day, instrument_id, case when flags & 2 <> 0 then 3 else 4 end
        from candle
        where trading_day >= $1::date
          and opened_at >= $1::date - interval '1 day'
          and timeframe = 1
          and flags & 6 <> 0
      )
      select r.trading_day, i.symbol, min(r.reason)::smallint, max(a.repaired_at)
      from reasons r
      join instrument i on i.id = r.instrument_id
      left join day_audit a using (trading_day, instrument_id)
      where i.source = 1
      group by r.trading_day, i.symbol
      order by 1, 3, 2
      """)

  /// The A-share days from `first` on that bars could make better, the most urgent of each day
  /// first. Gaps that were accepted for good do not count.
  /// - Throws: `connectionLost`, `malformed`.
  public func repairCandidates(
    from first: TradingDay
  ) throws(StoreError) -> [RepairCandidate] {
    var parameters = WireParameters()
    parameters.add { $0.date(first) }
    return try read(Self.readCandidates, parameters) { (row) throws(StoreError) in
      let day = try row.day()
      let symbol = try row.symbol()
      guard let reason = RepairClass(rawValue: try row.int16()) else { throw row.malformed() }
      return RepairCandidate(
        day: day, symbol: symbol, reason: reason, repairedAt: try row.optionalTimestamp())
    }
  }
}
