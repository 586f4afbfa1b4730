import ExchangeSimulator
import Market

/// What a test may choose about the simulated Tencent.
package struct TencentOptions: Sendable {
  /// Of a line: 88 since early 2026; lines of the past are shorter
  /// (docs/sources/tencent.md#fields).
  package var fieldCount = 88

  package init(fieldCount: Int = 88) { self.fieldCount = fieldCount }
}

extension UpstreamName {
  package static let tencentQuotes = UpstreamName("tencent quotes")
}

extension Fault {
  /// What the real one was seen to do now and then, without any trouble: a whole answer in UTF-8, a
  /// line twice, a line that stops early.
  package static let tencentOddities = [
    Fault(.utf8Names, on: .tencentQuotes, chancePerMille: 5),
    Fault(.duplicateRow, on: .tencentQuotes, chancePerMille: 1),
    Fault(.cutLine, on: .tencentQuotes, chancePerMille: 1),
  ]
}
