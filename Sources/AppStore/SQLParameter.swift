import Market
import Postgres

/// A parameter of a statement; nil is null.
struct SQLParameter {
  let write: (inout WireBuffer) -> Void

  private init<Value>(_ value: Value?, _ write: @escaping (inout WireBuffer, Value) -> Void) {
    self.write = { buffer in buffer.optional(value, write: write) }
  }

  static func bool(_ value: Bool?) -> Self { Self(value) { $0.bool($1) } }
  static func int32(_ value: Int32?) -> Self { Self(value) { $0.int32($1) } }
  static func int64(_ value: Int64?) -> Self { Self(value) { $0.int64($1) } }
  static func numeric(_ value: ExactDecimal?) -> Self { Self(value) { $0.numeric($1) } }
  static func text(_ value: String?) -> Self { Self(value) { $0.text($1) } }
  static func bytes(_ value: [UInt8]) -> Self { Self(value) { $0.bytes($1) } }
  static func day(_ value: TradingDay?) -> Self { Self(value) { $0.date($1) } }
  static func timestamp(_ value: Timestamp?) -> Self { Self(value) { $0.timestamp($1) } }

  static func int32s(_ values: [Int32]) -> Self {
    Self(values) { buffer, values in buffer.array(values, type: .int4) { $0.int32($1) } }
  }

  static func int64s(_ values: [Int64]) -> Self {
    Self(values) { buffer, values in buffer.array(values, type: .int8) { $0.int64($1) } }
  }

  static func days(_ values: [TradingDay]) -> Self {
    Self(values) { buffer, values in buffer.array(values, type: .date) { $0.date($1) } }
  }

  static func texts(_ values: [String]?) -> Self {
    Self(values) { buffer, values in buffer.array(values, type: .text) { $0.text($1) } }
  }
}
