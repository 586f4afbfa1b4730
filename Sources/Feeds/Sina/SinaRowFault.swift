/// Why a line is refused: the class to count it under and a sentence for people.

import Market

struct SinaRowFault: Error, Equatable {
  let reason: RejectionReason
  let detail: String

  static func malformed(_ detail: String) -> SinaRowFault {
    SinaRowFault(reason: .malformed, detail: detail)
  }

  static func notANumber(_ field: String, _ expected: String, _ text: UnsafeRawBufferPointer)
    -> SinaRowFault
  {
    SinaRowFault(
      reason: .notANumber, detail: "\(field): \(expected) expected, found `\(excerpt(text))`")
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
