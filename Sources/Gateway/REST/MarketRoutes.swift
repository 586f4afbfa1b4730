/// The routes of the market: what each needs is memory, and for what is no state, the pool.

import HTTPTypes
import Reader

package struct MarketRoutes: Sendable {
  let memory: MarketMemory
  let pool: QueryPool

  package var all: [Route] { stocks + history + charts + ledger + overview }

  static let symbol = Parameter(
    "symbol", .text(charactersMax: 32), in: .path,
    summary: "In any usual spelling: sh600519, SH600519, 600519.SH, 600519.XSHG, AAPL.",
    example: "sh600519")
  static let source = Parameter(
    "source", .matching(.source), summary: "Whose series, where a symbol has several.")
  static let from = Parameter(
    "from", .moment, summary: "Opened then or later.", example: "2026-07-06")
  static let to = Parameter("to", .moment, summary: "Opened before then.", example: "2026-07-07")
  static let cursor = Parameter(
    "cursor", .matching(.cursor), summary: "nextCursor of the page before.")

  static func limit(_ most: Int64) -> Parameter {
    Parameter(
      "limit", .integer(1...most), summary: "How many at most.", example: "100")
  }

  /// The series that a request names.
  func series(_ arguments: Arguments, state: MarketState) throws(Problem) -> SeriesPlace {
    try series(arguments["symbol"] ?? "", source: arguments["source"], state: state)
  }

  func series(
    _ spelling: String, source: String?, state: MarketState
  ) throws(Problem) -> SeriesPlace {
    let directory = state.directory
    if let place = directory.place(spelling: spelling, source: source) { return place }
    if let source, !directory.sourceNames.contains(source) {
      throw Problem(
        .notFound, code: "unknown_source", title: "No source has this name.",
        nearest: directory.sourceNames)
    }
    throw .unknownSymbol(spelling, in: directory)
  }
}
