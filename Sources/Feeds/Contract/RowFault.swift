/// Why a row is refused: the class to count it under and a sentence for people, which names fields
/// and expectations.

import Market

struct RowFault: Error, Equatable {
  let reason: RejectionReason
  let detail: String

  init(_ reason: RejectionReason, _ detail: String) {
    self.reason = reason
    self.detail = detail
  }

  static func malformed(_ detail: String) -> RowFault { RowFault(.malformed, detail) }
}
