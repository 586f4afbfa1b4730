/// Moments as people write them in a configuration.

import Market

extension Setting where Value == Timestamp? {
  static func moment(_ key: String, unset: String, help: String) -> Self {
    Setting(
      key, kind: "moment", default: nil, range: "unset: \(unset)", help: help,
      write: { $0.map { $0.description.quoted } },
      read: { input in
        if case .string("") = input { return nil }
        guard case .string(let text) = input, let moment = Timestamp(rfc3339: text) else {
          throw SettingMismatch(
            expected: "a moment with its offset such as \"2026-07-06T09:00:00+08:00\"")
        }
        return moment
      })
  }
}
