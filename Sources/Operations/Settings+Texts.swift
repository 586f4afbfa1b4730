/// The texts made from the table: the sample configuration, the reference, and the configuration
/// in force. Nothing about a setting is written twice.

import Market

extension SettingTable {
  /// A commented configuration that is valid as it stands. Settings at their defaults are
  /// commented out.
  package var example: String {
    var text = """
      # Configuration of candled, printed by `candled config example`. It lists every setting.
      # An unknown key is an error. `candled check` finds what is wrong with a file.
      # A reload (SIGHUP) applies the settings marked live; all others need a restart.

      """
    var section = ""
    for setting in rows {
      let (itsSection, name) = Self.split(setting.key)
      if itsSection != section {
        section = itsSection
        text += "\n[\(section)]\n"
      } else {
        text += "\n"
      }
      let remarks = setting.remarks.joined(separator: "; ")
      text += "# \(setting.help)\(remarks.isEmpty ? "" : " (\(remarks))")\n"
      text += exampleAssignment(of: setting, name: name)
    }
    return text
  }

  /// A Markdown table with one row a setting.
  package var reference: String {
    let lines = rows.map { setting in
      let text = setting.defaultText.map { "`\($0)`" } ?? "unset"
      return "| `\(setting.key)` | \(setting.kind) | \(text) | \(setting.range) "
        + "| \(setting.help)\(setting.isLive ? " *live*" : "") |\n"
    }
    return "| setting | type | default | range | meaning |\n|---|---|---|---|---|\n"
      + lines.joined()
  }

  /// Every setting's key, in order.
  package var keys: [String] { rows.map(\.key) }

  fileprivate static func split(_ key: String) -> (section: String, name: String) {
    guard let dot = key.firstIndex(of: ".") else { return ("", key) }
    return (String(key[..<dot]), String(key[key.index(after: dot)...]))
  }

  private func exampleAssignment(of setting: SettingDeclaration, name: String) -> String {
    guard let lines = setting.exampleLines else {
      return "#\(name) = \(setting.defaultText ?? "\"\"")\n"
    }
    return "\(name) = [\n" + lines.map { "  \($0)\n" }.joined() + "]\n"
  }
}

extension Settings {
  /// The values in force as TOML, each with where it came from. Secrets are masked.
  package var inForce: String {
    var text = ""
    var section = ""
    for row in rows {
      let (itsSection, name) = SettingTable.split(row.key)
      if itsSection != section {
        section = itsSection
        text += "\n[\(section)]\n"
      }
      let place = row.origin + (row.line.map { ":\($0)" } ?? "")
      text += row.value.map { "\(name) = \($0)  # \(place)\n" } ?? "# \(name) is unset\n"
    }
    return text
  }
}

extension SettingDeclaration {
  /// What it accepts and what a reload does to it.
  fileprivate var remarks: [String] { (range.isEmpty ? [] : [range]) + (isLive ? ["live"] : []) }
}
