import Market
import Postgres

/// A row of a commit that the database would not have, on its way into `rejected`.
struct RefusedRow {
  var source: Source
  var symbol: String
  var day: TradingDay
  /// Which kind of row, and why it was refused.
  var detail: String
  /// The row as text.
  var payload: [UInt8]

  /// What is known of a row before anybody refuses it.
  struct Sketch {
    var kind: String
    var source: Source
    var symbol: String
    var day: TradingDay
    var row: Any
  }

  init(_ sketch: Sketch, _ error: StoreError) {
    source = sketch.source
    symbol = sketch.symbol
    day = sketch.day
    // The server's primary message names the constraint, never a value.
    detail = "\(sketch.kind): \(error.message) [\(error.sqlState ?? "-----")]"
    payload = Array(Self.text(of: sketch).utf8.prefix(Rejection.payloadBytesMax))
  }

  /// `candle symbol=sh600519 timeframe=1m open=10.000 …`: the fields by name, in order.
  private static func text(of sketch: Sketch) -> String {
    var words = [sketch.kind]
    collect(Mirror(reflecting: sketch.row), under: "", &words)
    return words.joined(separator: " ")
  }

  private static func collect(_ mirror: Mirror, under prefix: String, _ words: inout [String]) {
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
        collect(Mirror(reflecting: value), under: "\(label).", &words)
      }
    }
  }
}
