/// The door for TradingView's charting library: its Universal Data Feed, as the library's own
/// adapter asks (`datafeeds/udf`, and the page "UDF" of its documentation). What is relied on:
///
/// - Whoever has `supports_search` is asked for one symbol at a time, by `ticker`; empty arguments
///   are sent (`type=`), and `currencyCode` and `unitId` where a symbol has them.
/// - Times are Unix seconds; candles of minutes begin with their minute, those of days, weeks and
///   months with 00:00 UTC of their (first) trading day.
/// - `countback` goes before `from`; `to` is not inclusive.
/// - Prices are JSON numbers. They are written here digit by digit, as the database has them.
/// - Errors are `{"s":"error","errmsg":…}`.

import HTTPTypes
import Market
import Reader

struct UDFRoutes: Sendable {
  let market: MarketRoutes

  var all: [Route] { configuration + symbols + bars }

  static let door = Door(path: "/udf", error: UDFShapes.error) { problem in
    let faults = problem.faults.map { " \($0.field): expected \($0.expected)." }
    return JSONWriter.encode { error in
      error.member("s") { $0.string("error") }
      error.member("errmsg") { $0.string(problem.title + faults.joined()) }
    }
  }

  static let symbol = Parameter(
    "symbol", .text(charactersMax: 40), summary: "A ticker, or any usual spelling.",
    example: "sh600519", isRequired: true)

  /// What the adapter sends without a value, too.
  static func optional(_ name: String, summary: String) -> Parameter {
    Parameter(
      name,
      .matching(TextPattern(#"^[^\u0000]{0,40}$"#, expectation: "at most 40 characters")),
      summary: summary)
  }

  static let ignored = ["currencyCode", "unitId"].map {
    optional($0, summary: "Has no effect.")
  }

  // MARK: Configuration and time

  private var configuration: [Route] {
    [
      Route(
        "/udf/config", summary: "TradingView: what this feed can.",
        answer: UDFConfiguration.shape.schema, problems: [.serviceUnavailable], door: Self.door
      ) { _ in
        let state = try market.memory.loaded()
        let configuration = UDFConfiguration(state)
        return .object { $0.write(configuration, as: UDFConfiguration.shape) }
      },
      Route(
        "/udf/time", summary: "TradingView: the daemon's clock, in Unix seconds.",
        answer: .string, contentType: "text/plain", door: Self.door
      ) { _ in
        let seconds = market.memory.state.clock(at: .now).seconds
        return Answer(
          json: Array(String(seconds).utf8), caching: "no-store", contentType: "text/plain")
      },
    ]
  }

  // MARK: What all need

  /// The series that a ticker means.
  func place(_ spelling: String, in state: MarketState) throws(Problem) -> SeriesPlace {
    guard let place = UDFSymbol.place(of: spelling, in: state.directory) else {
      throw .unknownSymbol(spelling, in: state.directory)
    }
    return place
  }
}

/// What the library asks first. An empty name stands for all.
private struct UDFConfiguration: Sendable {
  let exchanges: [String]
  let kinds: [String]

  init(_ state: MarketState) {
    let series = state.directory.places.map { state.directory[$0] }
    exchanges = [""] + Set(series.compactMap(\.exchange)).sorted()
    kinds = [""] + Set(series.compactMap(\.kind)).sorted()
  }

  static let shape = Shape<UDFConfiguration>(
    fields: [
      .boolean("supports_search") { _ in true }, .boolean("supports_group_request") { _ in false },
      .boolean("supports_marks") { _ in true }, .boolean("supports_timescale_marks") { _ in false },
      .boolean("supports_time") { _ in true },
      .strings("supported_resolutions") { _ in UDFResolution.names },
      .objects("exchanges", as: exchange) { $0.exchanges },
      .objects("symbols_types", as: kind) { $0.kinds },
    ])

  private static let exchange = Shape<String>(
    fields: [
      .string("value") { $0 }, .string("name") { $0.isEmpty ? "all" : $0 },
      .string("desc") { _ in "" },
    ])

  private static let kind = Shape<String>(
    fields: [.string("name") { $0.isEmpty ? "all" : $0 }, .string("value") { $0 }])
}
