/// `candled query`: the questions people ask most, without SQL. All of them only read.

import ArgumentParser
import Commands

struct Query: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Query candles, their origin, quotes, gaps and more.",
    discussion: Help.discussion(
      """
      Instruments may be written as sh600519, SH600519, 600519.SH or 600519. Times are RFC 3339, \
      or Shanghai time as `2026-07-06` or `2026-07-06 09:31`. An unknown instrument is an error: \
      the message names the nearest known ones, and the exit status is 65.
      """,
      examples: [
        "candled query candles sh600519 --limit 10": "the newest ten minutes",
        "candled query latest sh600519 sz000001": "the latest quotes of two instruments",
        "candled query audit --date 2026-07-06": "the certificates of a day",
        "candled query why sh600519 '2026-07-06 09:31'": "the origin of one minute",
      ]),
    subcommands: [
      QueryCandles.self, QueryLatest.self, QueryGaps.self, QueryCertificates.self,
      QueryInstruments.self, QueryWhy.self, QueryDisagreements.self,
    ])
}
