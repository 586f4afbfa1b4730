/// `candled query gaps` and `certificate`: what passed unseen, and the proof that nothing else did.

import ArgumentParser
import Commands
import Market
import Reader
import TerminalView

struct QueryGaps: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gaps",
    abstract: "Print the gaps and their causes.",
    discussion: Help.discussion(
      """
      A gap is volume of the day that is in no minute. Oldest first. The minutes of a closed gap \
      were found later; those of a permanent gap are not available.
      """,
      examples: [
        "candled query gaps --date 2026-07-06": "all of a day",
        "candled query gaps sh600519 --format csv": "all of an instrument",
      ]))

  @OptionGroup var options: LedgerOptions

  func run() throws {
    try options.print(Self.columns) { queries, day, symbol in
      try queries.gapRecords(day: day, symbol: symbol).map(Self.cells)
    }
  }

  private static let columns =
    ResultColumn.leading("symbol", "trading_day", "from_at", "to_at", "cause")
    + ResultColumn.trailing("volume", "turnover")
    + [
      ResultColumn("state"), ResultColumn("sightings", alignment: .trailing),
      ResultColumn("permanent_reason"),
    ]

  private static func cells(_ row: GapRecord) -> [ResultCell] {
    let gap = row.gap
    return [
      .text("\(gap.symbol)"), .day(gap.tradingDay), .moment(gap.from), .moment(gap.to),
      .text(gap.cause.name), .decimal(gap.volume), .decimal(gap.turnover), .text(row.state),
      .integer(Int64(row.sightings)), .optional(row.permanentReason),
    ]
  }
}

struct QueryCertificates: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "Print the certificates of a day.",
    discussion: Help.discussion(
      """
      One row per instrument: the exchange's day total, what the minutes hold, what the gaps hold, \
      and the residual, which is 0. Coarse means that the source of the day total rounds it, so \
      that it is a lower bound. Without --date it is the newest day that has certificates.
      """,
      examples: [
        "candled query audit": "the newest day",
        "candled query audit --json | jq 'map(select(.balanced | not))'":
          "certificates with a residual",
      ]))

  @OptionGroup var options: LedgerOptions

  func run() throws {
    try options.print(Self.columns) { queries, day, symbol in
      try queries.certificates(day: day, symbol: symbol).map(Self.cells)
    }
  }

  private static let columns =
    ResultColumn.leading("symbol", "trading_day", "balanced")
    + ResultColumn.trailing(
      "exchange_volume", "minute_volume", "gap_volume", "residual_volume", "residual_turnover",
      "traded", "untraded", "missing")
    + [ResultColumn("coarse")]

  private static func cells(_ row: CertificateRecord) -> [ResultCell] {
    let certificate = row.certificate
    return [
      .text("\(certificate.symbol)"), .day(certificate.tradingDay),
      row.isBalanced.map { .boolean($0) } ?? .null, .optional(certificate.exchangeVolume),
      .decimal(certificate.minuteVolume), .decimal(certificate.gapVolume),
      .optional(row.residualVolume),
      .optional(row.residualTurnover), .integer(Int64(certificate.minutesTraded)),
      .integer(Int64(certificate.minutesUntraded)), .integer(Int64(certificate.minutesMissing)),
      .boolean(certificate.isCoarse),
    ]
  }
}
