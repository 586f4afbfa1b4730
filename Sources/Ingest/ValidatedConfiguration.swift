import Feeds
import Glibc
import Market
import Operations
import Store

/// A configuration with the files it names, read once, and what is to be said against it.
///
/// `candled check`, the start of a daemon and a reload all ask here: what one of them accepts the
/// others do too, and what was judged is what comes into force.
package struct ValidatedConfiguration: Sendable {
  package private(set) var settings: Settings
  /// Instruments that are polled, without those of the foreign overview.
  package private(set) var symbols: [Symbol]
  package private(set) var credentials: SourceCredentials
  /// What the operator declares against the exchange's calendar.
  private(set) var declaredDays: [DeclaredDay] = []
  /// What the operator sets over the rules that ship.
  private(set) var rules: [Rule] = []
  /// What the operator says became of instruments, after what candled comes with.
  private(set) var declaredLinks: [InstrumentLink] = []
  /// How to reach the database, its password included; nil where it is the private cluster.
  let store: Secret?
  /// One of each check, in order, without the database.
  package let findings: [Finding]
  /// Why a file it names could not be taken.
  private(set) var fault: ConfigurationError?

  /// Ten times the market. A poller has room for 65,536 groups of one.
  static let symbolsMax = 50_000

  /// - Parameters:
  ///   - path: the file; nil reads none.
  ///   - overrides: `key=value`, over the file's.
  ///   - day: today, for what is said of the calendar.
  /// - Throws: `ConfigurationError` with all that is wrong with the settings themselves.
  package init(
    path: String?, overrides: [String], on day: TradingDay = EngineClock.realNow().shanghaiDay
  ) throws(ConfigurationError) {
    let settings = try ConfigurationFile.load(path, overrides: overrides, table: .candled)
    self.init(settings, path: path, on: day)
  }

  /// Makes the mask know its secrets.
  package func register(in mask: SecretMask) {
    settings.register(in: mask)
    credentials.register(in: mask)
    if let store { mask.register(url: store) }
  }

  /// The configuration of settings that are valid by themselves.
  package init(
    _ settings: Settings, path: String? = nil,
    on day: TradingDay = EngineClock.realNow().shanghaiDay
  ) {
    self.settings = settings
    var findings = [Finding.configuration(path)]
    var fault: ConfigurationError?
    /// What cannot be read is a finding, and the first of them the fault.
    @discardableResult
    func read<Value>(
      _ check: String, _ value: () throws(ConfigurationError) -> Value
    ) -> Value? {
      do throws(ConfigurationError) {
        return try value()
      } catch {
        fault = fault ?? error
        findings.append(Finding(check: check, error))
        return nil
      }
    }
    let symbols = read("symbols", settings.polledSymbols)
    if let symbols { findings.append(.symbols(symbols, settings: settings)) }
    self.symbols = symbols ?? []
    let credentials = read("keys") { () throws(ConfigurationError) in
      try SourceCredentials(settings)
    }
    if let credentials { findings.append(.keys(credentials)) }
    self.credentials = credentials ?? SourceCredentials()
    declaredDays = read(CalendarSettings.file.key, settings.declaredDays) ?? []
    rules = read(RuleSettings.file.key, settings.operatorsRules) ?? []
    declaredLinks = read(UniverseSettings.linksFile.key, settings.declaredLinks) ?? []
    read("quotes.sources", settings.checkLiveSources)
    store = read("store", settings.storeConnection)?.map { Secret($0) }
    self.fault = fault
    if let obstacle = settings[AdminSettings.listen]?.obstacle {
      findings.append(
        Finding(check: "admin.listen", status: .configuration, detail: obstacle))
    }
    self.findings =
      findings + [.calendar(on: day), .stateDirectory(settings[StateSettings.directory])]
  }

  /// This one with what a reload may take of `other`: its live settings and the files they name.
  func takingLive(from other: ValidatedConfiguration) -> ValidatedConfiguration {
    var taken = self
    taken.settings = settings.takingLive(from: other.settings)
    taken.symbols = other.symbols
    taken.declaredDays = other.declaredDays
    taken.rules = other.rules
    taken.declaredLinks = other.declaredLinks
    taken.credentials = other.credentials
    return taken
  }

  /// Instruments and the foreign overview, as they are polled.
  var polled: [Symbol] { symbols + settings[QuotesSettings.overview] }

  /// The first thing that is not well.
  package var problem: Finding? { findings.first { $0.status != .ok } }
}

// MARK: - Checks

extension Finding {
  fileprivate static func symbols(_ symbols: [Symbol], settings: Settings) -> Finding {
    let recorded = SourceRegistry.all.compactMap(\.bars?.recording)
    let count = Set(symbols + recorded.flatMap { settings[$0.symbols] }).count
    if count == 0, !settings[UniverseSettings.follow] {
      return Finding(
        check: "symbols", status: .configuration,
        detail: "none: set quotes.symbols, quotes.symbols_file, universe.follow or "
          + recorded.map(\.symbols.key).joined(separator: " or "))
    }
    if count > ValidatedConfiguration.symbolsMax {
      return Finding(
        check: "symbols", status: .configuration,
        detail: "\(count) symbols, at most \(ValidatedConfiguration.symbolsMax) are possible")
    }
    if settings[UniverseSettings.follow] {
      return Finding(check: "symbols", detail: "all listed A shares, and \(count) by name")
    }
    return Finding(check: "symbols", detail: "\(count) instrument\(count == 1 ? "" : "s")")
  }

  fileprivate static func keys(_ credentials: SourceCredentials) -> Finding {
    let counts = SourceRegistry.all.compactMap { source in
      source.credentials.map { declared in
        let count = credentials.keys(of: source).count
        return "\(count) \(source.title) \(declared.noun)\(count == 1 ? "" : "s")"
      }
    }
    return Finding(check: "keys", detail: counts.joined(separator: ", "))
  }

  /// A daemon requests the days beyond the table, and keeps them: never a reason to refuse.
  fileprivate static func calendar(
    _ calendar: TradingCalendar = .shanghai, on day: TradingDay
  ) -> Finding {
    switch calendar.freshness(on: day) {
    case .fresh: Finding(check: "calendar", detail: "known until \(calendar.lastDay)")
    case .endsSoon(let daysLeft):
      Finding(
        check: "calendar",
        detail:
          "the built-in table ends in \(daysLeft) days: the quote source sends later ones")
    case .ended:
      Finding(
        check: "calendar",
        detail:
          "the built-in table ended on \(calendar.lastDay): the quote source sends later days")
    }
  }

  /// It, or the nearest folder above it that exists, must take files of ours.
  fileprivate static func stateDirectory(_ wanted: String) -> Finding {
    var folder = Substring(wanted)
    while access(String(folder), F_OK) != 0, let slash = folder.lastIndex(of: "/"), folder != "/" {
      folder = slash == folder.startIndex ? "/" : folder[..<slash]
    }
    if access(String(folder), W_OK | X_OK) == 0 {
      return Finding(check: "state_directory", detail: wanted)
    }
    let reason = String(cString: strerror(errno))
    return Finding(
      check: "state_directory", status: .noPermission, detail: "\(wanted): \(folder): \(reason)")
  }
}

extension Settings {
  /// The sources that may serve the live quotes of a series, in order. Of a market other than the
  /// mainland all that there are.
  func liveSources(of series: Source) -> [any SourceDefinition] {
    let known = SourceRegistry.liveSources(of: series)
    guard series == .live, !self[QuotesSettings.sources].isEmpty else { return known }
    return self[QuotesSettings.sources].compactMap { name in known.first { $0.name == name } }
  }

  fileprivate func checkLiveSources() throws(ConfigurationError) {
    let known = SourceRegistry.liveSources(of: .live).map(\.name)
    guard let unknown = self[QuotesSettings.sources].first(where: { !known.contains($0) }) else {
      return
    }
    throw error(
      in: "quotes.sources",
      "expected names of \(known.joined(separator: ", ")), found \(unknown.quoted)")
  }

  /// Days that the operator declares.
  package func declaredDays() throws(ConfigurationError) -> [DeclaredDay] {
    guard let file = self[CalendarSettings.file] else { return [] }
    return try DayFile.load(file)
  }

  /// What is known of codes: where the operator's file has a pair, its line counts.
  package func declaredLinks() throws(ConfigurationError) -> [InstrumentLink] {
    let shipped = try LinkFile.parse(KnownLinks.text, origin: "config/links.csv")
    guard let file = self[UniverseSettings.linksFile] else { return shipped }
    let own = try LinkFile.load(file)
    return shipped.filter { known in
      !own.contains {
        let isOther = ($0.from == known.from) != ($0.to == known.to)
        return ($0.from, $0.to) == (known.from, known.to)
          || isOther && $0.kind == .rename && known.kind == .rename
      }
    } + own
  }

  /// `quotes.symbols` and what its file adds.
  fileprivate func polledSymbols() throws(ConfigurationError) -> [Symbol] {
    guard let file = self[QuotesSettings.symbolsFile] else { return self[QuotesSettings.symbols] }
    return self[QuotesSettings.symbols] + (try SymbolFile.load(file))
  }
}

extension [DeclaredDay] {
  /// Whether each trades.
  package var byDay: [TradingDay: Bool] {
    Dictionary(map { ($0.day, $0.trades) }, uniquingKeysWith: { $1 })
  }
}
