import Feeds
import Market

/// The lines of both sources, and the files beside them.
extension DecadeMarket {
  /// As Sina writes it; an unknown symbol has an empty line.
  func sinaLine(_ symbol: Symbol, at moment: Timestamp, plan: DecadePlan) -> [UInt8] {
    let moment = plan.stale.contains(.live) ? yesterday(of: moment) : moment
    guard let instrument = instruments[symbol], let shown = shown(symbol, at: moment) else {
      return Array("var hq_str_\(symbol)=\"\";\n".utf8)
    }
    let print = shown.print
    let isIndex = instrument.kind == .index
    func price(_ units: Int64) -> String { Self.decimal(units, places: 3) }
    let book = isIndex || print.volume == 0 ? 0 : print.price
    let (bid, ask) = (book, book == 0 ? 0 : book + instrument.tick)
    var fields = [instrument.name]
    fields += [shown.open, shown.previousClose, print.price, print.high, print.low].map(price)
    fields += [price(bid), price(ask)]
    fields += ["\(isIndex ? print.volume / 100 : print.volume)", price(print.turnover)]
    for (first, step) in [(bid, -instrument.tick), (ask, instrument.tick)] {
      for level in 0..<5 {
        fields += first == 0 ? ["0", price(0)] : ["100", price(first + Int64(level) * step)]
      }
    }
    fields += [
      shown.day.description, ClockText.second(shown.second), instrument.isSuspended ? "03" : "00",
    ]
    if symbol.description.hasPrefix("bj") {
      fields += ["21.0776", "0.0000", "0", "8300000", "B", "T"]
    } else if symbol.description.hasPrefix("sh") {
      fields.append("")
    }
    if plan.hasExtraField { fields.append("0") }
    return Array("var hq_str_\(symbol)=\"\(fields.joined(separator: ","))\";\n".utf8)
  }

  /// As Tencent writes it; an unknown symbol has no line.
  func tencentLine(_ symbol: Symbol, at moment: Timestamp, plan: DecadePlan) -> [UInt8] {
    let moment = plan.stale.contains(.decadeTencent) ? yesterday(of: moment) : moment
    guard let instrument = instruments[symbol], var shown = shown(symbol, at: moment) else {
      return []
    }
    // Of the refresh, not of the trade.
    if shown.day == day, isOpen, moment.shanghaiDay == day {
      shown.second = refreshed(at: moment.shanghaiSecondOfDay)
    }
    let print = shown.print
    let digits: Int64 = instrument.kind == .fund ? 1 : 10
    func price(_ units: Int64) -> String {
      Self.decimal(units / digits, places: digits == 1 ? 3 : 2)
    }
    let code = symbol.description.dropFirst(2)
    let countsShares = code.hasPrefix("688")
    var volume = countsShares ? print.volume : print.volume / 100
    if let second = plan.hundredfoldFrom, instrument.kind == .share,
      moment.shanghaiSecondOfDay >= second
    {
      volume *= 100
    }
    var fields = [String](repeating: "", count: 88)
    fields[0] = symbol.description.hasPrefix("sh") ? "1" : "51"
    fields[1] = instrument.name
    fields[2] = String(code)
    fields[3] = price(print.volume > 0 ? print.price : shown.previousClose)
    fields[4] = price(shown.previousClose)
    fields[5] = price(shown.open)
    fields[6] = "\(volume)"
    fields[7] = "0"
    fields[8] = "0"
    for level in 9...28 { fields[level] = level % 2 == 1 ? price(0) : "0" }
    fields[30] = shown.day.description.filter { $0 != "-" } + Self.clock(shown.second)
    fields[33] = price(print.high)
    fields[34] = price(print.low)
    fields[35] = "\(fields[3])/\(volume)/\(print.turnover / 1_000)"
    fields[36] = fields[6]
    fields[37] = "\(print.turnover / 10_000_000)"
    fields[40] = instrument.isSuspended ? "S" : ""
    fields[57] = Self.decimal(print.turnover / 1_000, places: 4)
    return Array("v_\(symbol)=\"\(fields.joined(separator: "~"))\";\n".utf8)
  }

  private func refreshed(at second: Int) -> Int {
    let stamp = min(second / 3 * 3, 16 * 3600 + 900)
    if let still = plan.still, still.contains(stamp) { return still.lowerBound }
    if !plan.hasClose, let last = plan.spans.last { return min(stamp, last.upperBound) }
    return stamp
  }

  private func yesterday(of moment: Timestamp) -> Timestamp { moment.adding(seconds: -86_400) }

  private static func clock(_ second: Int) -> String {
    ClockText.second(second).filter { $0 != ":" }
  }

  static func decimal(_ units: Int64, places: Int) -> String {
    let digits = String(units)
    let padded = String(repeating: "0", count: max(places + 1 - digits.count, 0)) + digits
    return "\(padded.dropLast(places)).\(padded.suffix(places))"
  }
}

// MARK: - Lists and files

extension DecadeMarket {
  /// What a node lists.
  func listed(_ node: String, _ listed: DecadePlan.Listed) -> [Symbol] {
    let all = symbols.filter { symbol in
      guard instruments[symbol]?.kind == .share else { return false }
      let text = symbol.description
      return switch node {
      case "kcb": text.hasPrefix("sh688")
      case "hs_bjs": text.hasPrefix("bj")
      default: !text.hasPrefix("bj")
      }
    }
    switch listed {
    case .all: return all
    case .half: return all.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    case .none: return []
    }
  }

  func page(of symbols: [Symbol], number: Int, rows: Int) -> String {
    let page = symbols.dropFirst((number - 1) * rows).prefix(rows).map { symbol in
      "{\"symbol\":\"\(symbol)\",\"code\":\"\(symbol.description.dropFirst(2))\","
        + "\"name\":\"\(instruments[symbol]?.name ?? "")\"}"
    }
    return "[" + page.joined(separator: ",") + "]"
  }

  /// A file of factors as Sina writes it; nil for a symbol that it does not have.
  func factorFile(
    of symbol: Symbol, _ kind: AdjustmentFactor.Kind, fault: DecadePlan.FactorFault?
  ) -> String? {
    guard let instrument = instruments[symbol] else { return nil }
    let isFund = instrument.kind == .fund
    let steps = instrument.factors
    var rows: [String] = []
    let before = "1900-01-01"
    let days = [before] + steps.map(\.day.description)
    for (place, day) in days.enumerated() {
      if isFund {
        let last = place == 0 ? nil : steps[place - 1]
        let split = Self.decimal(last?.split ?? 1_000, places: 3)
        let cash = Self.decimal(last?.cash ?? 0, places: 3)
        rows.append("{\"d\":\"\(day)\",\"f\":\"1\",\"s\":\"\(split)\",\"u\":\"\(cash)\"}")
        continue
      }
      let later = kind == .qfq ? steps.dropFirst(place) : steps.prefix(place)
      var product = later.reduce(Self.one) { $0 * Int128($1.step) / 1_000_000_000_000 }
      if place == days.count - 1, let fault {
        product = fault == .tenfold ? product * 10 : fault == .tenth ? product / 10 : product
        if fault == .twoRows { rows.append("{\"d\":\"\(day)\",\"f\":\"7.5\"}") }
      }
      rows.append("{\"d\":\"\(day)\",\"f\":\"\(Self.text(product))\"}")
    }
    return "var \(symbol)\(kind.name)={\"total\":\(rows.count),\"data\":[\n"
      + rows.reversed().joined(separator: ",\n") + "]}\n/* \(symbol) */\n"
  }

  /// In units of the last of thirteen places, behind which stand zeros.
  private static let one: Int128 = 10_000_000_000_000

  private static func text(_ factor: Int128) -> String {
    decimal(Int64(factor), places: 13) + "000"
  }
}
