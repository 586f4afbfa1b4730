/// The use of a key as the journal keeps it: printable ASCII, words between single spaces.

import Market

extension KeyUsage {
  /// The journal series of the key: `key/mairui/mairui-1`.
  package var journalKey: String { "key/\(source.name)/\(label)" }

  /// One line of ASCII for the journal, the end of the parking in microseconds since 1970:
  /// `mairui mairui-1 2026-11-21 17` or `mairui mairui-1 2026-11-21 50 quota 1795277400000000`.
  package var text: String {
    var words = [source.name, label, day.description, String(requests)]
    if let parkedUntil, let parkedReason {
      words += [parkedReason.name, String(parkedUntil.microseconds)]
    }
    return words.joined(separator: " ")
  }

  /// nil unless it is exactly what `text` gives.
  package init?(text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard words.count == 4 || words.count == 6,
      let source = Source(name: words[0]),
      KeyUsage.isLabel(words[1]), let day = TradingDay(words[2]),
      let requests = Int(words[3]), requests >= 0
    else { return nil }
    self.init(source: source, label: words[1], day: day, requests: requests)
    if words.count == 6 {
      guard let reason = KeyParking.allCases.first(where: { $0.name == words[4] }),
        let until = Int64(words[5])
      else { return nil }
      parkedReason = reason
      parkedUntil = Timestamp(microseconds: until)
    }
    guard self.text == text else { return nil }
  }
}
