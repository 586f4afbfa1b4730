/// Why a row is refused: the class to count it under and a sentence for people, which names fields
/// and expectations.

import Market

struct RowFault: Error, Equatable {
  let reason: RejectionReason
  let detail: String

  init(_ reason: RejectionReason, detail: String) {
    self.reason = reason
    self.detail = detail
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
