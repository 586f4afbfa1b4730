import Market

@testable import Feeds

/// What golden files hold of a response: one JSON object a record, in the order of the body; of one
/// that was refused as a whole a single object.
struct ResponseLines {
  let lines: [String]
  let isRefused: Bool

  /// - Parameter decode: hands the records to the printer, in their order.
  static func quotes(
    showsLimits: Bool = false, decode: (inout QuotePrinter) -> QuoteOutcome
  ) -> ResponseLines {
    var printer = QuotePrinter(showsLimits: showsLimits)
    let outcome = decode(&printer)
    if case .ok = outcome { return ResponseLines(lines: printer.lines, isRefused: false) }
    var line = JSONLine()
    line.add("outcome", value: outcome.name)
    return ResponseLines(lines: [line.finished], isRefused: true)
  }

  static func kline(
    _ body: UnsafeRawBufferPointer, status: Int, symbol: Symbol, timeframe: Timeframe
  ) -> ResponseLines {
    do throws(FeedRefusal) {
      let page = try SinaKline.decode(
        body, status: status, symbol: symbol, timeframe: timeframe)
      let bars = page.candles.map { $0.json(at: \.description) }
      return ResponseLines(
        lines: bars.merged(with: page.refused) + page.dropped.map(\.json), isRefused: false)
    } catch {
      return ResponseLines(lines: [error.json], isRefused: true)
    }
  }

  /// A row that another one for the same symbol follows does not count, and is printed so.
  static func mairuiList(_ body: UnsafeRawBufferPointer, status: Int) -> ResponseLines {
    do throws(FeedRefusal) {
      let page = try MairuiList.page(body, status: status)
      var last: [Symbol: Int] = [:]
      for (index, row) in page.listed.enumerated() { last[row.symbol] = index }
      let rows = page.listed.enumerated().map { index, row in
        last[row.symbol] == index
          ? row.json
          : RefusedRow.json(row.symbol, reason: .duplicate, detail: "repeated later in the list")
      }
      return ResponseLines(
        lines: rows.merged(with: page.refused) + page.dropped.map(\.json), isRefused: false)
    } catch {
      return ResponseLines(lines: [error.json], isRefused: true)
    }
  }

  /// The bars, and the token of the next page.
  static func alpacaBars(
    _ body: UnsafeRawBufferPointer, status: Int, timeframe: Timeframe, requested: [String]
  ) -> ResponseLines {
    do throws(FeedRefusal) {
      let page = try AlpacaBars.decode(
        body, status: status, source: Alpaca.iex, timeframe: timeframe,
        requested: requested.compactMap { Symbol($0) })
      var token = JSONLine()
      token.add("next_page_token", value: page.nextPageToken)
      let bars = page.candles.map { $0.json(at: \.utcText) }
      return ResponseLines(
        lines: bars.merged(with: page.refused) + page.dropped.map(\.json) + [token.finished],
        isRefused: false)
    } catch {
      return ResponseLines(lines: [error.json], isRefused: true)
    }
  }
}

extension Candle {
  /// - Parameter moment: writes a moment as the source's own clock shows it.
  fileprivate func json(at moment: (Timestamp) -> String) -> String {
    var line = JSONLine()
    line.add("symbol", value: symbol.description)
    line.add("timeframe", value: timeframe.name)
    line.add("opened_at", value: moment(openedAt))
    line.add("closed_at", value: moment(closedAt))
    line.add("open", value: open)
    line.add("high", value: high)
    line.add("low", value: low)
    line.add("close", value: close)
    line.add("volume", value: volume)
    line.add("turnover", value: turnover?.description)
    line.add("trades", count: trades)
    line.add("vwap", value: vwap?.description)
    return line.finished
  }
}

extension ListedInstrument {
  fileprivate var json: String {
    var line = JSONLine()
    line.add("symbol", value: symbol.description)
    line.add("name", value: name)
    line.add("exchange", value: exchange.name)
    return line.finished
  }
}

extension FeedRefusal {
  fileprivate var json: String {
    var line = JSONLine()
    line.add("outcome", value: kind.name)
    if case .invalidSymbol(let symbol?) = kind { line.add("symbol", value: symbol) }
    line.add("sentence", value: sentence)
    return line.finished
  }
}

extension RefusedRow {
  fileprivate var json: String { RefusedRow.json(symbol, reason: reason, detail: detail) }

  static func json(_ symbol: Symbol?, reason: RejectionReason, detail: String) -> String {
    var line = JSONLine()
    line.add("symbol", value: symbol?.description)
    line.add("outcome", value: "rejected")
    line.add("reason", value: reason.rawValue)
    line.add("detail", value: detail)
    return line.finished
  }
}

extension DroppedMember {
  var json: String {
    var line = JSONLine()
    line.add("symbol", value: symbol?.description)
    line.add("outcome", value: "member_dropped")
    line.add("member", value: member.rawValue)
    line.add("detail", value: detail)
    return line.finished
  }
}

extension [String] {
  /// The lines of the good rows and those of the refused ones in the order of the answer.
  fileprivate func merged(with refused: [RefusedRow]) -> [String] {
    var merged: [String] = []
    merged.reserveCapacity(count + refused.count)
    var next = 0
    for row in refused {
      while merged.count < row.index, next < count {
        merged.append(self[next])
        next += 1
      }
      merged.append(row.json)
    }
    return merged + self[next...]
  }
}
