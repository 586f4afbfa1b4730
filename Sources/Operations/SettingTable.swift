/// Every setting there is: the rows of `SettingTable+Rows` and those that sources declare. The
/// order is that of the sample and of the reference.

import Market

package struct SettingTable: Sendable {
  let rows: [any AnySetting]
  /// Names of earlier versions, which are refused, and what each is now.
  package let renamed: [String: String]
  let rules: [Rule]
  private let places: [String: Int]

  static let storage = StorageSettings()
  static let quotes = QuotesSettings()
  static let recording = RecordingSettings()
  static let operating = OperatingSettings()
  static let gateway = GatewaySettings()

  /// Without settings that sources declare.
  package static let shared = SettingTable(sources: [])

  package init(sources: [SettingSection]) {
    let declarations = sources.flatMap(\.declarations)
    rows =
      Self.rows(of: Self.storage) + Self.rows(of: Self.quotes) + Self.rows(of: Self.recording)
      + declarations.map(\.setting) + Self.rows(of: Self.operating) + Self.rows(of: Self.gateway)
    renamed = sources.reduce(into: Self.renamedBefore010) { all, section in
      all.merge(section.renamed) { _, _ in preconditionFailure("one old name, two settings") }
    }
    rules =
      Self.rules
      + declarations.compactMap { row in row.needs.map { .needs(row.key, other: $0) } }
    places = Dictionary(uniqueKeysWithValues: rows.enumerated().map { ($1.key, $0) })
  }

  subscript(key: String) -> (any AnySetting)? { places[key].map { rows[$0] } }

  /// By reflection, so that a declaration is one line and cannot be forgotten in a list.
  private static func rows(of group: any Sendable) -> [any AnySetting] {
    Mirror(reflecting: group).children.compactMap { $0.value as? any AnySetting }
  }

  private static let renamedBefore010 = [
    "repair.sighting": "repair.confirm_after", "candles.straddle": "candles.max_silence",
    "candles.give_up": "candles.source_timeout",
  ]
}

// MARK: - Rules

extension SettingTable {
  /// What holds between settings, with the setting to blame.
  struct Rule: Sendable {
    let key: String
    let sentence: String
    let holds: @Sendable (Settings) -> Bool

    init(_ key: String, must sentence: String, holds: @escaping @Sendable (Settings) -> Bool) {
      self.key = key
      self.sentence = sentence
      self.holds = holds
    }

    /// Of the user of a database, in one place.
    static func onePassword(
      file: @escaping @Sendable (Settings) -> String?,
      url: @escaping @Sendable (Settings) -> Secret?, prefix: String
    ) -> Rule {
      Rule(
        "\(prefix)password_file",
        must: "\(prefix)url contains a password, too: keep one of them"
      ) {
        file($0) == nil || ConnectionURL(url($0)?.reveal() ?? "")?.passwords.isEmpty != false
      }
    }

    /// The one may be set only where the other is.
    static func needs(_ key: String, other: String) -> Rule {
      Rule(key, must: "needs \(other)") { !$0.isSet(key) || $0.isSet(other) }
    }
  }

  private static let rules: [Rule] = [
    Rule("candles.max_silence", must: "must be shorter than candles.source_timeout") {
      $0.candlesMaxSilence < $0.candlesSourceTimeout
    },
    Rule("candles.grace", must: "must be shorter than candles.source_timeout") {
      $0.candlesGrace < $0.candlesSourceTimeout
    },
    Rule("quotes.cadence", must: "must be a whole number of seconds") {
      $0.quotesCadence.wholeMilliseconds % 1_000 == 0
    },
    Rule("quotes.phase", must: "must be shorter than quotes.cadence") {
      $0.quotesPhase < $0.quotesCadence
    },
    .needs("store.password_file", other: "store.url"),
    .onePassword(file: { $0.storePasswordFile }, url: { $0.storeURL }, prefix: "store."),
    .needs("gateway.store_password_file", other: "gateway.store_url"),
    .onePassword(
      file: { $0.gatewayStorePasswordFile }, url: { $0.gatewayStoreURL },
      prefix: "gateway.store_"),
    Rule("clock.stop", must: "must be later than clock.start") { settings in
      guard let start = settings.clockStart, let stop = settings.clockStop else { return true }
      return start < stop
    },
  ]
}

// MARK: - What sources declare

extension SettingDeclaration {
  fileprivate var setting: any AnySetting {
    switch kind {
    case .string(let value):
      Setting.string(key, default: value, help: help).live(isLive)
    case .optionalString(let unset):
      Setting.optionalString(key, unset: unset, help: help).live(isLive)
    case .origin(let value):
      Setting.origin(key, default: value, help: help).live(isLive)
    case .origins(let values):
      Setting.origins(key, default: values, help: help).live(isLive)
    case .boolean(let value):
      Setting.boolean(key, default: value, help: help).live(isLive)
    case .integer(let value, let range):
      Setting.integer(key, default: value, in: range, help: help).live(isLive)
    case .duration(let value, let range):
      Setting.duration(key, default: value, in: range, help: help).live(isLive)
    case .symbols:
      Setting.symbols(key, help: help).live(isLive)
    case .choice(let value, let names):
      Setting.choice(key, default: value, of: names, help: help).live(isLive)
    }
  }
}

extension Settings: SettingValues {
  package subscript<Value: Sendable & Equatable>(key: SettingKey<Value>) -> Value {
    guard let entry = entries[key.declaration.key], let value = key.decode(entry.value) else {
      return key.defaultValue
    }
    return value
  }
}
