/// Why a row is refused: the class to count it under and a sentence for people, which names fields
/// and expectations.

import Market

struct RowFault: Error, Equatable {
  let reason: RejectionReason
  let detail: String
  /// Its money fits its prices once the volume is taken in tens, hundreds or the like.
  let isInOtherUnit: Bool

  init(_ reason: RejectionReason, detail: String, isInOtherUnit: Bool = false) {
    self.reason = reason
    self.detail = detail
    self.isInOtherUnit = isInOtherUnit
  }

  init(_ broken: QuoteInconsistency, of quote: Quote) {
    self.init(
      .inconsistent, detail: broken.sentence(about: quote),
      isInOtherUnit: broken.isOfOtherUnit(quote))
  }

  static func malformed(_ detail: String) -> RowFault { RowFault(.malformed, detail: detail) }

  static func notANumber(
    _ field: String, expected: String, found text: UnsafeRawBufferPointer
  ) -> RowFault {
    RowFault(.notANumber, detail: "\(field): \(expected) expected, found `\(excerpt(text))`")
  }

  /// The beginning of a field as printable ASCII, other bytes as `?`.
  static func excerpt(_ text: UnsafeRawBufferPointer) -> String {
    let shown = text.prefix(excerptBytesMax).map { byte in
      (0x20...0x7E).contains(byte) ? byte : UInt8(ascii: "?")
    }
    return String(decoding: shown, as: Unicode.ASCII.self)
      + (text.count > excerptBytesMax ? "…" : "")
  }

  private static let excerptBytesMax = 32
}
