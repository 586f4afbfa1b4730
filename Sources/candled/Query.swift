/// `candled query`: the questions people ask most, without SQL. All of them only read.

import ArgumentParser

struct Query: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Ask the database for candles, where they came from, quotes, gaps and more.",
    discussion: Help.discussion(
      """
      Instruments may be spelled in any usual way: sh600519, SH600519, 600519.SH, 600519. Times \
      are RFC 3339, or Shanghai time as `2026-07-06` or `2026-07-06 09:31`. An instrument the \
      database does not know is an error, with the nearest ones it does know; the exit status \
      is 65.
      """,
      examples: [
        "candled query candles sh600519 --limit 10": "the newest ten minutes",
        "candled query latest sh600519 sz000001": "where two instruments stand",
        "candled query audit --date 2026-07-06": "does the day add up?",
        "candled query why sh600519 '2026-07-06 09:31'": "where that minute came from",
      ]),
    subcommands: [
      QueryCandles.self, QueryLatest.self, QueryGaps.self, QueryCertificates.self,
      QueryInstruments.self, QueryWhy.self, QueryDisagreements.self,
    ])
}
