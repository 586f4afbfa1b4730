/// Whether a list may be believed (docs/sources/mairui.md#lists). Each doubt is a sentence with its
/// figures, for the alarm and for whoever has to decide.

extension Universe {
  /// nil if the list is plausible.
  func doubt(
    _ listed: [Symbol: ListedInstrument], validRows: Int, rejectedRows: Int, part: ListPart
  ) -> String? {
    doubtOfSize(listed.count, of: part) ?? doubtOfRows(validRows, rejected: rejectedRows, of: part)
      ?? doubtOfExchanges(listed, of: part)
  }

  private func doubtOfSize(_ rows: Int, of part: ListPart) -> String? {
    let rowsMin = part.isWholeMarket ? limits.mainRowsMin : limits.partRowsMin
    if rows < rowsMin {
      return "the list \(part.name) has \(rows) instruments, fewer than the \(rowsMin) it must have"
    }
    guard let last = accepted[part], rows * 100 < last.rows * limits.keptPercentMin else {
      return nil
    }
    return "the list \(part.name) has \(rows) instruments, less than \(limits.keptPercentMin) % "
      + "of the \(last.rows) accepted on \(last.at.shanghaiDay)"
  }

  private func doubtOfRows(_ valid: Int, rejected: Int, of part: ListPart) -> String? {
    let all = valid + rejected
    guard valid * 100 < all * limits.validPercentMin else { return nil }
    return "of the \(all) rows of the list \(part.name) \(rejected) are not valid, "
      + "more than \(100 - limits.validPercentMin) %"
  }

  private func doubtOfExchanges(
    _ listed: [Symbol: ListedInstrument], of part: ListPart
  ) -> String? {
    let present = Set(listed.values.map(\.exchange))
    guard let missing = part.exchanges.first(where: { !present.contains($0) }) else { return nil }
    return "the list \(part.name) has \(listed.count) instruments and none of \(missing.title)"
  }
}

extension Exchange {
  fileprivate var title: String {
    switch self {
    case .shanghai: "Shanghai"
    case .shenzhen: "Shenzhen"
    case .beijing: "Beijing"
    case .hongKong: "Hong Kong"
    case .unitedStates: "the United States"
    }
  }
}
