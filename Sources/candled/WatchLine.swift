/// One line of `candled watch`, for people and for programs.

import CandledClient
import Market
import TerminalView

struct WatchLine {
  let kind: String
  let members: [(key: String, value: ResultCell)]

  /// `kind`, then `key=value …`.
  var text: String {
    let values = members.map { "\($0.key)=\($0.value == .null ? "-" : $0.value.text)" }
    return ([kind] + values).joined(separator: " ")
  }

  var json: String { JSONText.object([("kind", .text(kind))] + members) }

  static func lines(of item: FeedItem, about chosen: Set<Symbol>?) -> [WatchLine] {
    switch item {
    case .change(let change): lines(of: change) { chosen?.contains($0) ?? true }
    case .skipped(let first, let last):
      [
        WatchLine(
          kind: "skipped", members: [("from_seq", .integer(first)), ("seq", .integer(last))])
      ]
    case .restarted(let epoch, let seq):
      [WatchLine(kind: "restarted", members: [("seq", .integer(seq)), ("epoch", .integer(epoch))])]
    }
  }

  /// Candles before the news that their minute is complete.
  private static func lines(
    of change: FeedChange, about isChosen: (Symbol) -> Bool
  ) -> [WatchLine] {
    let lines =
      change.candles.filter { isChosen($0.candle.symbol) }.map { candle($0, kind: "candle") }
      + change.revisions.filter { isChosen($0.candle.symbol) }.map { candle($0, kind: "revision") }
      + change.gaps.filter { isChosen($0.symbol) }.map(gap)
      + change.certificates.filter { isChosen($0.symbol) }.map(certificate)
      + change.events.map(event)
    return lines.map { line in
      WatchLine(kind: line.kind, members: [("seq", .integer(change.seq))] + line.members)
    }
  }

  static func quote(_ row: LatestQuote) -> WatchLine {
    WatchLine(
      kind: "quote",
      members: [
        ("seq", .integer(row.seq)), ("symbol", .text("\(row.quote.symbol)")),
        ("quoted_at", .moment(row.quote.at)), ("last", .optional(row.quote.lastTraded)),
        ("volume", .decimal(row.quote.volume)), ("turnover", .decimal(row.quote.turnover)),
        ("trading", .text(row.quote.trading.name)),
      ])
  }

  private static func candle(_ row: StoredCandle, kind: String) -> WatchLine {
    let candle = row.candle
    return WatchLine(
      kind: kind,
      members: [
        ("symbol", .text("\(candle.symbol)")), ("timeframe", .text(candle.timeframe.name)),
        ("opened_at", .moment(candle.openedAt)),
        ("open", .decimal(candle.open)), ("high", .decimal(candle.high)),
        ("low", .decimal(candle.low)), ("close", .decimal(candle.close)),
        ("volume", .decimal(candle.volume)), ("turnover", .optional(candle.turnover)),
        ("flags", .list(candle.flags.names)), ("revision", .integer(Int64(row.revision))),
      ])
  }

  private static func gap(_ gap: Gap) -> WatchLine {
    WatchLine(
      kind: "gap",
      members: [
        ("symbol", .text("\(gap.symbol)")), ("from_at", .moment(gap.from)),
        ("to_at", .moment(gap.to)), ("volume", .decimal(gap.volume)),
        ("turnover", .decimal(gap.turnover)), ("cause", .text(gap.cause.name)),
      ])
  }

  private static func certificate(_ certificate: DayCertificate) -> WatchLine {
    WatchLine(
      kind: "certificate",
      members: [
        ("symbol", .text("\(certificate.symbol)")),
        ("trading_day", .day(certificate.tradingDay)),
        ("residual_volume", .optional(certificate.residualVolume)),
        ("residual_turnover", .optional(certificate.residualTurnover)),
        ("balanced", .boolean(certificate.isBalanced)),
      ])
  }

  private static func event(_ event: FeedEvent) -> WatchLine {
    switch event {
    case .minuteComplete(let minute):
      WatchLine(
        kind: "minute_complete",
        members: [
          ("trading_day", .day(minute.tradingDay)), ("opened_at", .moment(minute.openedAt)),
          ("traded", .integer(Int64(minute.traded))),
          ("untraded", .integer(Int64(minute.untraded))),
          ("missing", .integer(Int64(minute.missing))),
        ])
    case .feedStalled(let source, let since):
      WatchLine(
        kind: "feed_stalled", members: [("source", .text(source)), ("since", .moment(since))])
    case .feedRecovered(let source, let at):
      WatchLine(kind: "feed_recovered", members: [("source", .text(source)), ("at", .moment(at))])
    case .dayComplete(let day, let instruments, let residuals):
      WatchLine(
        kind: "day_complete",
        members: [
          ("trading_day", .day(day)), ("instruments", .integer(Int64(instruments))),
          ("residuals", .integer(Int64(residuals))),
        ])
    case .codesChanged(let day, let count):
      WatchLine(
        kind: "codes_changed",
        members: [("trading_day", .day(day)), ("instruments", .integer(Int64(count)))])
    case .dispute(let dispute):
      WatchLine(
        kind: dispute.kind.rawValue,
        members: [
          ("symbol", .text("\(dispute.symbol)")), ("trading_day", .day(dispute.tradingDay)),
          ("at", .moment(dispute.at)),
        ])
    }
  }
}
