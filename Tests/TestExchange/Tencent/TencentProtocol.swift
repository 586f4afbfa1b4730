import ExchangeSimulator
import Market

/// `qt.gtimg.cn`: `/q=…`, `/?q=…`, `/_=<ms>&q=…` (docs/sources/tencent.md).
///
/// It asks for no Referer and no key. A symbol nobody knows has no line; if nobody knows any, one
/// line says so. Too long a question is refused whatever it asks.
package struct TencentProtocol: UpstreamProtocol {
  /// 900 symbols in 8,118 bytes are answered, 950 in 8,568 are not: nginx's buffer of 8 KiB holds
  /// `GET <target> HTTP/1.1`.
  private static let targetBytesMax = 8192 - 15

  private let options: TencentOptions
  private var recent: RecentStates?
  private var writer: TencentLineWriter?

  package init(_ options: TencentOptions = TencentOptions()) { self.options = options }

  package mutating func response(
    _ request: SimulatedRequest, from exchange: inout SimulatedExchange
  ) -> SimulatedResponse? {
    guard let query = TencentQuery(target: request.target) else { return nil }
    if request.target.utf8.count > TencentProtocol.targetBytesMax {
      return .page(414, "414 Request-URI Too Large")
    }
    let moment = exchange.moment(requested: query.milliseconds)
    let faults = exchange.faults(on: .tencentQuotes, at: moment, symbols: query.symbols)
    if let refused = faults?.refusal { return refused }
    let shown = faults?.shown(at: moment) ?? moment
    let recent = states(at: shown, of: &exchange)
    let writer = writer(for: recent.market)
    let observer = exchange.observers.observer(of: recent.market)
    var batch = TencentBatch(
      showing: recent, at: shown, faults: faults, fieldCount: options.fieldCount, observer)
    for symbol in query.symbols { batch.append(symbol, by: writer) }
    let response = batch.response()
    if let ticket = response.ticket { observer?.asked(ticket, at: moment) }
    return response
  }

  private mutating func states(
    at moment: Timestamp, of exchange: inout SimulatedExchange
  ) -> RecentStates {
    let observers = exchange.observers
    // The day has happened as far, whoever asks.
    exchange.timeline.show(at: moment, watchedBy: observers) { _ in }
    if var recent, recent.goes(to: moment, in: exchange.timeline) {
      self.recent = recent
      return recent
    }
    let fresh = RecentStates(at: moment, in: &exchange.timeline, watchedBy: observers)
    recent = fresh
    return fresh
  }

  private mutating func writer(for market: SimulatedMarket) -> TencentLineWriter {
    if let writer, writer.day == market.day { return writer }
    let writer = TencentLineWriter(market)
    self.writer = writer
    return writer
  }
}

/// What a Tencent path asks for.
struct TencentQuery {
  /// Since 1970, if the cache buster is a time.
  var milliseconds: Int64?
  /// Those that can be known at all: a token without a market's prefix never is.
  var symbols: [Symbol] = []

  /// 2001: a cache buster before is a random number.
  private static let millisecondsMin: Int64 = 1_000_000_000_000
  private static let busters = ["_=", "r=", "t="]

  /// nil if the path is none of Tencent's quote paths.
  init?(target: String) {
    var rest = target.utf8.dropFirst()
    if rest.first == UInt8(ascii: "?") { rest = rest.dropFirst() }
    var list: Substring?
    for pair in Substring(rest).split(separator: "&") {
      if pair.hasPrefix("q=") { list = pair.dropFirst(2) }
      guard TencentQuery.busters.contains(where: pair.hasPrefix) else { continue }
      milliseconds = Int64(pair.dropFirst(2)).flatMap {
        $0 >= TencentQuery.millisecondsMin ? $0 : nil
      }
    }
    guard let list else { return nil }
    for token in RequestTarget.unescaped(list).split(separator: ",")
    where TencentQuery.isWellFormed(token) {
      if let symbol = Symbol(token) { symbols.append(symbol) }
    }
  }

  private static func isWellFormed(_ token: Substring) -> Bool {
    let code = token.utf8.dropFirst(2)
    return ["sh", "sz", "bj"].contains(where: token.hasPrefix) && code.count == 6
      && code.allSatisfy { (48...57).contains($0) }
  }
}

/// One answer of Tencent's quotes in the making.
struct TencentBatch {
  private var lines: LineBatch
  private let recent: RecentStates
  private let refreshed: RefreshedLines
  /// Since the midnight of the market's day.
  private let second: Int
  private let fieldCount: Int
  private var stamps: [Int32] = []

  init(
    showing recent: RecentStates, at moment: Timestamp, faults: (any ResponseFaults)?,
    fieldCount: Int, _ observer: (any DayObserver)?
  ) {
    lines = LineBatch(faults: faults, observer: observer)
    self.recent = recent
    self.fieldCount = fieldCount
    let market = recent.market
    refreshed = RefreshedLines(seed: market.seed)
    second = Int(moment.seconds - Timestamp(day: market.day, secondOfDay: 0).seconds)
  }

  mutating func append(_ symbol: Symbol, by writer: TencentLineWriter) {
    let market = recent.market
    guard let place = market.place(of: symbol) else { return }
    let line = refreshed.line(of: place, market.traits[Int(place)], at: second)
    let state = recent.state(of: place, at: line.state)
    let start = lines.body.count
    lines.body += writer.line(of: place, state, stamp: Int(line.stamp))
    if fieldCount < TencentLineWriter.fieldCount { shorten(from: start) }
    stamps.append(state.isPreviousSession ? 0 : line.stamp)
    lines.finishLine(of: place, from: start, state: state, in: market)
  }

  /// A line of the past has fewer fields.
  private mutating func shorten(from start: Int) {
    var place = start
    var fields = 1
    while place < lines.body.count {
      if lines.body[place] == TencentLineWriter.separator {
        if fields == fieldCount {
          lines.body.removeSubrange(place...)
          lines.body += "\";\n".utf8
          return
        }
        fields += 1
      }
      place += lines.body[place] > 0x80 ? 2 : 1
    }
  }

  /// The finished answer, shown to the observer.
  mutating func response() -> SimulatedResponse {
    if lines.body.isEmpty, stamps.isEmpty {
      lines.body = Array("v_pv_none_match=\"1\";\n".utf8)
    }
    var response = lines.response(
      of: recent.market,
      refreshed: RefreshedLines.Response(
        lines: refreshed, second: Int32(clamping: second), stamps: stamps))
    response.contentType = "text/html; charset=GBK"
    return response
  }
}

extension TradingDay {
  /// `YYYYMMDD`.
  var compact: String { description.split(separator: "-").joined() }
}
