import Commits
import ExchangeSimulator
import Ledgers
import Market
import Postgres
import Store
import TestSupport

/// Holds a stored day against the simulator's ledger of what it served: the table is the ledger and
/// the recorded gaps, every certificate balances, and no final candle was told twice, lost or
/// opened again.
package struct DayVerifier: Sendable {
  package struct Finding: Sendable {
    package var candles = 0
    package var gaps = 0
    package var certificates = 0
    package var changes = 0
    /// Readable, empty if all is well.
    package var complaints: [String] = []

    package var line: String {
      "\(candles) candles, \(gaps) gaps, \(certificates) certificates in \(changes) commits"
    }
  }

  package let url: String

  /// - Parameter url: of the database, as its superuser.
  package init(url: String) { self.url = url }

  /// - Parameter ledger: of a day that was lived through to its end; nil judges what needs none.
  package func verify(_ day: TradingDay, by ledger: ObservableLedger?) throws -> Finding {
    let stored = StoredDay(url: url, day: day)
    let (candles, gaps, certificates) = (
      try stored.candles(), try stored.gaps(), try stored.certificates()
    )
    var finding = Finding()
    finding.candles = candles.count
    finding.gaps = gaps.count
    finding.certificates = certificates.count
    if let ledger {
      finding.complaints = ledger.differences(
        candles: candles, gaps: gaps, certificates: certificates)
    }
    for certificate in certificates
    where certificate.exchangeVolume != nil && !certificate.isBalanced {
      finding.complaints.append(
        "\(certificate.symbol): the certificate does not balance: \(certificate)")
    }
    try compareCertificates(day, &finding)
    if candles.isEmpty { finding.complaints.append("no candle was stored") }
    if certificates.isEmpty { finding.complaints.append("no certificate was stored") }
    try compareFeed(&finding)
    try compareRevisions(&finding)
    return finding
  }

  /// The feed tells of every final candle once, and what it told of is still there.
  private func compareFeed(_ finding: inout Finding) throws {
    let row = try SQLProbe.run(
      """
      with told as (
        select u.id, u.timeframe, u.opened_at, count(*) as times
        from candled.change h, lateral unnest(
          h.candle_instrument_ids, h.candle_timeframes, h.candle_opened_ats
        ) as u(id, timeframe, opened_at)
        group by 1, 2, 3)
      select (select count(*) from candled.change),
        (select coalesce(max(seq), 0) from candled.change),
        count(*) filter (where c.instrument_id is null),
        count(*) filter (where told.times is null), count(*) filter (where told.times > 1)
      from told full join candled.candle c on c.instrument_id = told.id
        and c.timeframe = told.timeframe and c.opened_at = told.opened_at
      """, url: url)[0]
    var fields = StoredFields(row)
    finding.changes = Int(try fields.number())
    let sentences = [
      "the change feed has holes", "final candles are gone", "candles were never told",
      "candles became final twice",
    ]
    let last = Int(try fields.number())
    let counts = [last - finding.changes] + (try (0..<3).map { _ in Int(try fields.number()) })
    for (count, sentence) in zip(counts, sentences) where count != 0 {
      finding.complaints.append("\(sentence): \(count)")
    }
  }

  /// A certificate says what the rows say: minutes and gaps sum up to its own figures.
  private func compareCertificates(_ day: TradingDay, _ finding: inout Finding) throws {
    let rows = try SQLProbe.run(
      """
      select i.symbol, a.minute_volume, m.volume, a.gap_volume, g.volume
      from candled.day_audit a
      join candled.instrument i on i.id = a.instrument_id
      cross join lateral (
        select coalesce(sum(c.volume), 0) as volume
        from candled.candle c
        where c.instrument_id = a.instrument_id
          and c.trading_day = a.trading_day
          and c.timeframe = 1
      ) m
      cross join lateral (
        select coalesce(sum(h.volume), 0) as volume
        from candled.gap h
        where h.instrument_id = a.instrument_id
          and h.trading_day = a.trading_day
          and h.known_to is null
      ) g
      where a.trading_day = '\(day)'
        and (m.volume, g.volume) is distinct from (a.minute_volume, a.gap_volume)
      """, url: url)
    finding.complaints += rows.map { row in
      "the certificate and the rows differ: \(row.map { $0 ?? "null" }.joined(separator: " "))"
    }
  }

  /// No final candle was changed but on record.
  private func compareRevisions(_ finding: inout Finding) throws {
    let (uncounted, _) = try StoredMonth(url: url).revisions()
    if uncounted != 0 {
      finding.complaints.append("candles were changed without a record: \(uncounted)")
    }
  }
}
