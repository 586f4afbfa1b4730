import Alerts
import AppStore
import ExchangeSimulator
import Foundation
import Market
import Postgres
import TestSupport

/// Alerts on a simulated day, and which of them must have fired by what really traded: each of
/// those once, and none else.
struct AlertCrowd {
  private struct Entry {
    let alert: Alert
    /// Of what is listed on the exchange.
    let place: Int
    /// Thousandths of the previous close to which the price must rise, or fall.
    let thousandths: Int64
  }

  private let entries: [Entry]
  private let truth: TrueLedger

  private static let conditions: [AlertCondition] = [
    .above, .below, .changePercentAbove, .changePercentBelow,
  ]
  private static let thousandthsMax: Int64 = 40
  private static let complaintsMax = 20

  /// Makes them, while the daemon stands.
  /// - Parameters:
  ///   - url: of the gateways' role.
  ///   - owner: of the database.
  ///   - truth: of the day, before it began.
  init(_ count: Int, seed: UInt64, url: String, owner: String, truth: TrueLedger) throws {
    self.truth = truth
    var random = SplitMix(seed: seed)
    let connection = try AppConnection(url: url, application: "alert crowd")
    var entries: [Entry] = []
    while entries.count < count {
      let rows = try SQLProbe.run(
        """
        insert into candled_app.app_user (name) values ('alerts \(entries.count)') returning id
        """, url: owner)
      guard let user = rows.first?.first?.flatMap({ Int64($0) }) else {
        throw TrialFailure("no user for alerts")
      }
      let table = AlertTable(connection, userID: user)
      for _ in 0..<min(AlertTable.alertsMax, count - entries.count) {
        let place = Int.random(in: truth.symbols.indices, using: &random)
        let condition = Self.conditions.randomElement(using: &random) ?? .above
        let thousandths = Int64.random(
          in: -Self.thousandthsMax...Self.thousandthsMax, using: &random)
        let alert = try table.create(
          Self.request(condition, place: place, thousandths: thousandths, truth: truth))
        entries.append(Entry(alert: alert, place: place, thousandths: thousandths))
      }
    }
    self.entries = entries
  }

  private static func request(
    _ condition: AlertCondition, place: Int, thousandths: Int64, truth: TrueLedger
  ) -> AlertTable.Request {
    let threshold =
      switch condition {
      case .above, .below:
        ExactDecimal(
          units: truth.references[place] * (1000 + thousandths) / 1000, scale: truth.scales[place])
      default: ExactDecimal(units: thousandths, scale: 1)
      }
    return AlertTable.Request(
      subject: AlertSubject(symbol: truth.symbols[place], source: "sina"), condition: condition,
      threshold: threshold)
  }

  /// By the trades of the day alone. All were armed before the continuous trading.
  private func mustFire(_ entry: Entry, by truth: TrueLedger) -> Bool {
    let traded = truth.minutes(at: entry.place).filter { $0.volume > 0 }
    guard let high = traded.map(\.high).max(), let low = traded.map(\.low).min() else {
      return false
    }
    let close = truth.references[entry.place]
    let bound = close * (1000 + entry.thousandths)
    return switch entry.alert.condition {
    case .above: high >= bound / 1000
    case .below: low <= bound / 1000
    case .changePercentAbove: high * 1000 >= bound
    default: low * 1000 <= bound
    }
  }

  // MARK: The end

  private struct Firing {
    let alert: Int64
    /// From the commit that showed it until its notification was stored.
    let milliseconds: Double
    /// When it was stored, seconds since 1970.
    let at: Double
  }

  /// - Parameters:
  ///   - truth: of the day, which is over.
  ///   - blows: when something was killed, seconds since 1970.
  ///   - millisecondsMax: of a firing that nothing that was killed had delayed, and twice that of
  ///     all but one in a hundred; 0: any.
  func judge(
    by truth: TrueLedger, url: String, blows: [Double], millisecondsMax: Int
  ) throws -> ChaosVerdict {
    let firings = try Self.firings(url: url)
    var counts: [Int64: Int] = [:]
    for firing in firings { counts[firing.alert, default: 0] += 1 }
    var verdict = ChaosVerdict()
    var expected = 0
    for entry in entries {
      let must = mustFire(entry, by: truth)
      if must { expected += 1 }
      let count = counts.removeValue(forKey: entry.alert.id) ?? 0
      if count != (must ? 1 : 0) {
        verdict.complaints.append(
          "alert \(entry.alert.id), \(truth.symbols[entry.place]) \(entry.alert.condition) "
            + "\(entry.alert.threshold?.description ?? ""): fired \(count) times, must \(must)")
      }
    }
    if !counts.isEmpty { verdict.complaints.append("\(counts.count) firings are of no alert") }
    let withdrawn = try SQLProbe.run(
      "select count(*) from candled_app.notification where kind = 'withdrawn'", url: url)
    if withdrawn != [["0"]] {
      verdict.complaints.append("\(withdrawn) withdrawn, although no row was false")
    }
    verdict.complaints = Array(verdict.complaints.prefix(Self.complaintsMax))
    verdict.figures.append(
      "\(entries.count) alerts, of which \(expected) had to fire; \(firings.count) fired")
    let undisturbed = firings.filter { firing in
      let from = firing.at - firing.milliseconds / 1000 - Self.recoverySeconds
      return !blows.contains { (from...firing.at).contains($0) }
    }
    let times = undisturbed.map(\.milliseconds).sorted()
    if let slowest = undisturbed.max(by: { $0.milliseconds < $1.milliseconds }) {
      let quantiles = [0.5, 0.99].map { Int(times[Int(Double(times.count - 1) * $0)]) }
      verdict.figures.append(
        "\(times.count) of them more than \(Int(Self.recoverySeconds)) s behind a kill: stored "
          + "\(quantiles[0]) ms p50, \(quantiles[1]) ms p99, \(Int(slowest.milliseconds)) ms at "
          + "most behind the commit")
      if millisecondsMax > 0, quantiles[1] > millisecondsMax / 2 {
        verdict.complaints.append(
          "one alert of a hundred fired \(quantiles[1]) ms behind its commit")
      }
      if millisecondsMax > 0, slowest.milliseconds > Double(millisecondsMax) {
        let committed = slowest.at - slowest.milliseconds / 1000
        let blow = blows.filter { $0 < committed }.max()
        verdict.complaints.append(
          "an alert fired \(Int(slowest.milliseconds)) ms behind its commit"
            + (blow.map { ", \(Int((committed - $0) * 1000)) ms behind a kill" } ?? ""))
      }
    }
    return verdict
  }

  /// A gateway or a server that was killed serves again.
  private static let recoverySeconds = 5.0

  private static func firings(url: String) throws -> [Firing] {
    try SQLProbe.run(
      """
      select
        n.alert_id, extract(epoch from n.at - coalesce(shown.at, n.at)) * 1000,
        extract(epoch from n.at)
      from candled_app.notification n
      join candled_app.alert a on a.id = n.alert_id
      left join lateral (
        select min(c.committed_at) as at
        from candled.change c
        where c.seq = n.feed_seq and n.feed_seq > a.armed_seq
      ) shown on true
      where n.kind = 'fired'
        and not exists (select from candled_app.notification w where w.refers_to = n.id)
      """, url: url
    ).compactMap { row in
      guard let alert = row[0].flatMap({ Int64($0) }),
        let milliseconds = row[1].flatMap({ Double($0) }), let at = row[2].flatMap({ Double($0) })
      else { return nil }
      return Firing(alert: alert, milliseconds: milliseconds, at: at)
    }
  }
}
