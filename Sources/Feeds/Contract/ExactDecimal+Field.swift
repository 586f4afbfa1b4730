/// Numbers of a row, and why one is refused.

import Market

extension ExactDecimal {
  /// A field with a number from zero up.
  init(
    field text: UnsafeRawBufferPointer, named name: @autoclosure () -> String
  ) throws(RowFault) {
    let number: ExactDecimal
    do throws(ExactDecimalError) {
      number = try ExactDecimal(parsing: text)
    } catch {
      throw .notANumber(
        name(), expected: error == .overflow ? "a number of at most 18 digits" : "a number",
        found: text)
    }
    if number.isNegative {
      throw RowFault(.negative, detail: "\(name()): \(number) is negative")
    }
    self = number
  }

  /// A number of shares or units, which nobody trades in parts.
  init(
    countIn text: UnsafeRawBufferPointer, named name: @autoclosure () -> String
  ) throws(RowFault) {
    try self.init(field: text, named: name())
    guard scale == 0 || rounded(places: 0) == self else {
      throw .notANumber(name(), expected: "a whole number", found: text)
    }
  }

  /// The shares in so many lots of a hundred.
  func shares(named name: @autoclosure () -> String) throws(RowFault) -> ExactDecimal {
    let (units, overflow) = units.multipliedReportingOverflow(by: QuotedSecurity.lot)
    if overflow {
      throw RowFault(.notANumber, detail: "\(name()): \(self) lots exceed the limit")
    }
    return ExactDecimal(units: units, scale: scale)
  }
}
