import Market

/// What amounts, numbers of shares and keys of orders on paper look like.
extension TextPattern {
  /// Up to 10^13, to the cent, above 0.
  static let amount = TextPattern(
    "^([1-9][0-9]{0,11}([.][0-9]{1,2})?|0[.](0[1-9]|[1-9][0-9]?))$",
    expectation: "an amount above 0, to the cent, in a string such as \"1000.00\"")

  /// Shares, or parts of them; the decimal has 18 digits.
  static let quantity = TextPattern(
    "^([1-9][0-9]{0,8}([.][0-9]{1,9})?|0[.][0-9]{0,8}[1-9])$",
    expectation: "a number of shares above 0 in a string such as \"100\"")

  static let key = TextPattern(
    "^[A-Za-z0-9._:-]{1,128}$", expectation: "1 to 128 letters, digits, dots, colons, dashes")
}

extension String {
  /// The decimal that this is.
  /// - Throws: 400 where it has another form.
  func decimal(_ field: String, _ pattern: TextPattern) throws(Problem) -> ExactDecimal {
    guard pattern.matches(self), let value = try? ExactDecimal(self) else {
      throw .invalid(field, expected: pattern.expectation, found: self)
    }
    return value
  }
}

extension String? {
  /// As `decimal` of what is there.
  func decimal(_ field: String, _ pattern: TextPattern) throws(Problem) -> ExactDecimal? {
    guard let self else { return nil }
    return try self.decimal(field, pattern)
  }
}
