/// Every setting there is: those of `SettingTable+Rows`, and those that sources declare. The daemon
/// and the gateway have one table, since they read the same file. The order is that of the sample
/// and of the reference.

import Feeds
import Market

package struct SettingTable: Sendable {
  package let rows: [SettingDeclaration]
  let rules: [Rule]
  private let places: [String: Int]

  /// Without settings that sources declare.
  package static let shared = SettingTable(sources: [])

  /// With those that the sources declare.
  package static var candled: SettingTable {
    SourceRegistry.isReplaced ? .ofRegisteredSources : own
  }

  private static let own = ofRegisteredSources

  private static var ofRegisteredSources: SettingTable {
    SettingTable(sources: SourceRegistry.all.map(\.settings))
  }

  package init(sources: [SettingSection]) {
    let sections = Self.sectionsBeforeSources + sources + Self.sectionsAfterSources
    rows = sections.flatMap(\.declarations)
    rules =
      Self.rules
      + rows.compactMap { row in row.needs.map { .needs(row.key, other: $0) } }
    places = Dictionary(uniqueKeysWithValues: rows.enumerated().map { ($1.key, $0) })
  }

  subscript(key: String) -> SettingDeclaration? { places[key].map { rows[$0] } }

  private static let sectionsBeforeSources = [
    StateSettings.section, StoreSettings.section, JournalSettings.section, QuotesSettings.section,
    UniverseSettings.section, CalendarSettings.section, RuleSettings.section,
    CandlesSettings.section, RepairSettings.section,
  ]

  private static let sectionsAfterSources = [
    AdminSettings.section, LogSettings.section, ClockSettings.section, GatewaySettings.section,
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
      $0[CandlesSettings.maxSilence] < $0[CandlesSettings.sourceTimeout]
    },
    Rule("candles.grace", must: "must be shorter than candles.source_timeout") {
      $0[CandlesSettings.grace] < $0[CandlesSettings.sourceTimeout]
    },
    Rule("quotes.cadence", must: "must be a whole number of seconds") {
      $0[QuotesSettings.cadence].wholeMilliseconds % 1_000 == 0
    },
    Rule("quotes.phase", must: "must be shorter than quotes.cadence") {
      $0[QuotesSettings.phase] < $0[QuotesSettings.cadence]
    },
    .needs("store.password_file", other: "store.url"),
    .onePassword(
      file: { $0[StoreSettings.passwordFile] }, url: { $0[StoreSettings.url] }, prefix: "store."),
    .needs("gateway.store_password_file", other: "gateway.store_url"),
    .onePassword(
      file: { $0[GatewaySettings.storePasswordFile] }, url: { $0[GatewaySettings.storeURL] },
      prefix: "gateway.store_"),
    Rule("gateway.same_day_funds", must: "must be funds, such as sh518880") {
      $0[GatewaySettings.sameDayFunds].allSatisfy { Instrument.classify($0)?.kind == .fund }
    },
    Rule("clock.stop", must: "must be later than clock.start") { settings in
      guard let start = settings[ClockSettings.start], let stop = settings[ClockSettings.stop]
      else { return true }
      return start < stop
    },
  ]
}
