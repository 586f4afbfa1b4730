import Commits
import Market

/// A row of a commit that the database would not have, on its way into `rejected`.
struct RefusedRow {
  var source: Source
  var symbol: String
  var day: TradingDay
  /// Which kind of row, and why it was refused.
  var detail: String
  /// The row as text.
  var payload: [UInt8]

  /// Whose row it is.
  struct Origin {
    var source: Source
    var symbol = ""
    /// nil is the commit's.
    var day: TradingDay?
  }

  /// What is known of a row before anybody refuses it.
  struct RowDescription {
    var kind: String
    var row: Any
    var origin: Origin

    init(_ kind: String, of row: Any, from origin: Origin) {
      self.kind = kind
      self.row = row
      self.origin = origin
    }

    init(_ kind: String, of candle: Candle) {
      self.init(
        kind, of: candle,
        from: Origin(
          source: candle.source, symbol: "\(candle.symbol)", day: candle.tradingDay))
    }
  }

  init(_ rowDescription: RowDescription, day: TradingDay, error: StoreError) {
    source = rowDescription.origin.source
    symbol = rowDescription.origin.symbol
    self.day = rowDescription.origin.day ?? day
    // The server's primary message names the constraint, never a value.
    detail = "\(rowDescription.kind): \(error.message) [\(error.sqlState ?? "-----")]"
    payload = Array(Self.text(of: rowDescription).utf8.prefix(Rejection.payloadBytesMax))
  }

  /// `candle symbol=sh600519 timeframe=1m open=10.000 …`: the fields by name, in order.
  private static func text(of rowDescription: RowDescription) -> String {
    var words = [rowDescription.kind]
    collect(Mirror(reflecting: rowDescription.row), under: "", into: &words)
    return words.joined(separator: " ")
  }

  private static func collect(_ mirror: Mirror, under prefix: String, into words: inout [String]) {
    for child in mirror.children {
      guard let label = child.label, label != "bookState" else { continue }
      var value = child.value
      let inner = Mirror(reflecting: value)
      if inner.displayStyle == .optional {
        guard let some = inner.children.first else { continue }
        value = some.value
      }
      // A value with a text of its own is a field; any other is a group of fields.
      if value is any CustomStringConvertible {
        words.append("\(prefix)\(label)=\(value)")
      } else if let raw = value as? any RawRepresentable {
        words.append("\(prefix)\(label)=\(raw.rawValue)")
      } else {
        collect(Mirror(reflecting: value), under: "\(label).", into: &words)
      }
    }
  }
}

extension QuoteRow {
  var rowDescription: RefusedRow.RowDescription {
    RefusedRow.RowDescription(
      "quote", of: self,
      from: .init(source: source, symbol: "\(quote.symbol)", day: quote.tradingDay))
  }
}

extension InstrumentRow {
  var rowDescription: RefusedRow.RowDescription {
    RefusedRow.RowDescription(
      "instrument", of: self, from: .init(source: source, symbol: "\(symbol)"))
  }
}

extension Gap {
  var rowDescription: RefusedRow.RowDescription {
    RefusedRow.RowDescription(
      "gap", of: self, from: .init(source: source, symbol: "\(symbol)", day: tradingDay))
  }
}

extension DayCertificate {
  var rowDescription: RefusedRow.RowDescription {
    RefusedRow.RowDescription(
      "audit", of: self, from: .init(source: source, symbol: "\(symbol)", day: tradingDay))
  }
}

extension BarBatch {
  /// One bar where there is but one.
  var rowDescription: RefusedRow.RowDescription {
    if candles.count == 1, role == .deliver { return .init("bar", of: candles[0]) }
    return RefusedRow.RowDescription(
      "bars", of: self,
      from: .init(source: source, symbol: "\(symbol)", day: candles.first?.tradingDay))
  }
}

extension FactorBatch {
  var rowDescription: RefusedRow.RowDescription {
    let symbol = (factors.first?.symbol ?? exDays.first?.symbol).map { "\($0)" } ?? ""
    return RefusedRow.RowDescription(
      "factors", of: self, from: .init(source: source, symbol: symbol))
  }
}

extension MarketSession {
  var rowDescription: RefusedRow.RowDescription {
    RefusedRow.RowDescription("session", of: self, from: .init(source: .live, day: day))
  }
}

extension InstrumentMarks {
  var rowDescription: RefusedRow.RowDescription {
    RefusedRow.RowDescription("marks", of: self, from: .init(source: source, symbol: "\(symbol)"))
  }
}
