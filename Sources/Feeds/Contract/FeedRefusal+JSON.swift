/// Refused rows and refused answers as `candled decode` prints them, whatever the source.

import Market

extension FeedRefusal {
  /// One object, alone on its line.
  var json: String {
    var line = JSONLine()
    line.add("outcome", value: kind.name)
    if case .invalidSymbol(let symbol?) = kind { line.add("symbol", value: symbol) }
    line.add("sentence", value: sentence)
    return line.finished
  }
}

extension RefusedRow {
  var json: String { RefusedRow.json(symbol, reason: reason, detail: detail) }

  static func json(_ symbol: Symbol?, reason: RejectionReason, detail: String) -> String {
    var line = JSONLine()
    if let symbol {
      line.add("symbol", value: symbol.description)
    } else {
      line.addNull("symbol")
    }
    line.add("outcome", value: "rejected")
    line.add("reason", value: reason.rawValue)
    line.add("detail", value: detail)
    return line.finished
  }
}

extension DroppedMember {
  var json: String {
    var line = JSONLine()
    line.add("symbol", value: symbol?.description)
    line.add("outcome", value: "member_dropped")
    line.add("member", value: member.rawValue)
    line.add("detail", value: detail)
    return line.finished
  }
}

extension [String] {
  /// The lines of the good rows and those of the refused ones in the order of the answer.
  func merged(with refused: [RefusedRow]) -> [String] {
    var merged: [String] = []
    merged.reserveCapacity(count + refused.count)
    var next = 0
    for row in refused {
      while merged.count < row.index, next < count {
        merged.append(self[next])
        next += 1
      }
      merged.append(row.json)
    }
    return merged + self[next...]
  }
}
