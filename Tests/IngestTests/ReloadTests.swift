import Glibc
import Logging
import Market
import Operations
import TestSupport
import Testing

@testable import Ingest

/// A configuration in a file, as an operator has it.
private struct EditedFile {
  let folder: String
  var path: String { folder + "/candled.toml" }
  var symbolsPath: String { folder + "/symbols" }

  init() throws {
    folder = try PrivateCluster.freshDirectory()
    try write("sh600519\nsz000001\n", to: symbolsPath)
  }

  func write(_ text: String, to path: String) throws {
    let file = try #require(fopen(path, "we"))
    defer { fclose(file) }
    fputs(text, file)
  }

  /// Every kind of setting, on a line each.
  var text: String {
    """
    state_directory = "\(folder)"
    [quotes]
    symbols = ["sh000001", "sh600000"]
    symbols_file = "\(symbolsPath)"
    overview = ["gb_$dji"]
    cadence = "3s"
    phase = "400ms"
    deadline = "2500ms"
    [sina]
    batch_symbols = 800
    requests_per_minute = 160
    [universe]
    follow = false
    rows_min = 4500
    [alpaca]
    feed = "iex"
    [journal]
    retain_days = 30
    retain_bytes = "20GiB"
    [candles]
    max_silence = "15s"
    grace = "6s"
    source_timeout = "30s"
    [log]
    level = "info"
    format = "text"
    """
  }

  func read() throws(ConfigurationError) -> ValidatedConfiguration {
    try ValidatedConfiguration(path: path, overrides: [], on: TradingDay(daysSince1970: 20_640))
  }
}

private let silence = Logger(label: "reload", factory: { _ in SwiftLogNoOpLogHandler() })

@Suite struct ReloadTests {
  private let file: EditedFile
  private let daemon: Daemon

  init() throws {
    file = try EditedFile()
    try file.write(file.text, to: file.path)
    let configuration = try file.read()
    try #require(configuration.problem == nil)
    daemon = Daemon(configuration: configuration, log: silence)
  }

  private func reload(_ text: String) async throws -> ReloadVerdict {
    try file.write(text, to: file.path)
    return await daemon.reload { () throws(ConfigurationError) in try file.read() }
  }

  @Test func `takes up what is live`() async throws {
    let verdict = try await reload(
      file.text.replacing("\"3s\"", with: "\"6s\"").replacing("\"info\"", with: "\"debug\""))
    #expect(verdict == ReloadVerdict(changed: ["quotes.cadence", "log.level"]))
    #expect(daemon.settings[QuotesSettings.cadence] == .seconds(6))
    let control = LogControl(level: .info, format: .text)
    daemon.applyLog(to: control)
    #expect(control.level == .debug)
  }

  @Test func `leaves what needs a restart as it was, and reports it`() async throws {
    let verdict = try await reload(
      file.text.replacing("\"15s\"", with: "\"12s\"").replacing("= 30\n", with: "= 20\n"))
    #expect(verdict.needsRestart == ["candles.max_silence"])
    #expect(verdict.changed == ["journal.retain_days"])
    #expect(daemon.settings[CandlesSettings.maxSilence] == .seconds(15))
    #expect(daemon.settings[JournalSettings.retainDays] == 20)
    let line = await daemon.state.report().statusLine
    #expect(line == "starting · restart needed for candles.max_silence")
  }

  @Test func `reads the files a configuration names again`() async throws {
    try file.write("sh600519\n", to: file.symbolsPath)
    let verdict = try await reload(file.text)
    #expect(verdict == ReloadVerdict(changed: ["quotes.symbols_file"]))
    let polled = daemon.configuration.polled.map(\.description)
    #expect(polled == ["sh000001", "sh600000", "sh600519", "gb_$dji"])
  }

  @Test func `the last day of a key is taken up`() async throws {
    for end in ["2027-03-01", "2028-03-01"] {
      let verdict = try await reload(file.text + "\n[mairui]\nlicence_ends = \"\(end)\"\n")
      #expect(verdict == ReloadVerdict(changed: ["mairui.licence_ends"]))
      let report = await daemon.state.report()
      #expect(report.keyEnds.values.map(\.description) == [end])
    }
    let wrong = try await reload(file.text + "\n[mairui]\nlicence_ends = \"2027-02-30\"\n")
    let problem = try #require(wrong.problem)
    #expect(problem.contains("expected a day such as"))
  }

  @Test func `days that the operator declares are read with each reload`() async throws {
    let path = file.folder + "/days"
    try file.write("2027-02-08,closed,SSE notice,2027-01-20\n", to: path)
    let text = file.text + "\n[calendar]\nfile = \"\(path)\"\n"
    #expect(try await reload(text) == ReloadVerdict(changed: ["calendar.file"]))
    let day = try #require(TradingDay("2027-02-08"))
    #expect(daemon.engineUpdate.workers.declaredDays == [day: false])
    try file.write("2027-02-08,trading,SSE notice,2027-01-21\n", to: path)
    #expect(try await reload(text) == ReloadVerdict(changed: ["calendar.file"]))
    #expect(daemon.engineUpdate.workers.declaredDays == [day: true])
    try file.write("2027-02-08,shut,SSE notice,2027-01-21\n", to: path)
    let verdict = try await reload(text)
    #expect(
      verdict.problem == "calendar.file: \(path):1: status: expected closed or trading")
    #expect(daemon.engineUpdate.workers.declaredDays == [day: true])
  }

  @Test func `rules that the operator sets are read with each reload, whole or not at all`()
    async throws
  {
    defer { RuleBook.use(operators: []) }
    let path = file.folder + "/rules"
    let symbol = try #require(Symbol("RULE.TEST"))
    // The rules in force are those of the process: another test may take its own meanwhile.
    func tick() -> String {
      RuleBook(operators: daemon.configuration.rules).tick(of: symbol).description
    }
    let text = file.text + "\n[rules]\nfile = \"\(path)\"\n"
    try file.write("us,RULE.TEST,,tick,0.005,2026-01-05,,SEC\n", to: path)
    #expect(try await reload(text) == ReloadVerdict(changed: ["rules.file"]))
    #expect(tick() == "0.005")
    var decoders = DayDecoders(isMainland: true)
    _ = decoders.begin(TradingDay(daysSince1970: 20_640))
    try file.write("us,RULE.TEST,,tick,0.002,2026-01-05,,SEC\n", to: path)
    #expect(try await reload(text) == ReloadVerdict(changed: ["rules.file"]))
    #expect(tick() == "0.002")
    let areNew = decoders.begin(TradingDay(daysSince1970: 20_640))
    #expect(areNew, "the day's rows are read by them")
    try file.write("us,RULE.TEST,,tick,nothing,2026-01-05,,SEC\n", to: path)
    let verdict = try await reload(text)
    #expect(
      verdict.problem
        == "rules.file: \(path):1: value: expected a positive price such as 0.01")
    #expect(tick() == "0.002")
  }

  @Test func `links that the operator declares are read with each reload`() async throws {
    let shipped = daemon.engineUpdate.workers.declaredLinks
    #expect(shipped.contains { "\($0.from) \($0.to)" == "bj833819 bj920819" })
    let path = file.folder + "/links"
    try file.write("bj833819,bj920819,2025-05-07,rename\nbj1,bj2,2027-01-04,rename\n", to: path)
    let text = file.text.replacing(
      "follow = false", with: "follow = false\nlinks_file = \"\(path)\"")
    #expect(try await reload(text) == ReloadVerdict(changed: ["universe.links_file"]))
    let links = daemon.engineUpdate.workers.declaredLinks
    #expect(links.count == shipped.count + 1)
    #expect(links.first { $0.from == Symbol("bj833819") }?.day == TradingDay("2025-05-07"))
    try file.write("bj833819,bj920819,2025-05-07,swap\n", to: path)
    let problem = try await reload(text).problem ?? ""
    #expect(problem.hasPrefix("universe.links_file: \(path):1: kind: expected one of rename"))
    #expect(daemon.engineUpdate.workers.declaredLinks == links)
    // A code has one after it: the operator's.
    try file.write("bj833819,bj920820,2025-05-06,rename\n", to: path)
    _ = try await reload(text)
    let after = daemon.engineUpdate.workers.declaredLinks.filter { $0.from == Symbol("bj833819") }
    #expect(after.map(\.to) == [try #require(Symbol("bj920820"))])
  }

  @Test func `each reload that finds a credential unchanged logs that it needs a restart`()
    throws
  {
    let settings = try ConfigurationFile.load(
      nil,
      overrides: [
        "alpaca.key_file=credential:candled.alpaca", "mairui.licence_file=/etc/candled/mairui",
      ], table: .candled)
    #expect(settings.credentialKeys == ["alpaca.key_file"])
    let lines = LogLines()
    let daemon = Daemon(configuration: try file.read(), log: lines.logger)
    _ = daemon.conclude(ReloadVerdict(credentialsKept: settings.credentialKeys))
    #expect(lines.count("renewed ones need a restart\" settings=alpaca.key_file") == 1)
    _ = daemon.conclude(ReloadVerdict())
    #expect(lines.count("need a restart") == 1, "\(lines.lines)")
  }

  @Test func `a table of trading days that has ended refuses nothing`() throws {
    let later = try ValidatedConfiguration(
      path: file.path, overrides: [], on: TradingCalendar.shanghai.lastDay.advanced(by: 30))
    #expect(later.problem == nil)
    let calendar = try #require(later.findings.first { $0.check == "calendar" })
    #expect(calendar.detail.contains("ended on \(TradingCalendar.shanghai.lastDay)"))
  }

  @Test func `a bad file changes nothing and is reported`() async throws {
    let before = daemon.settings.rows
    let verdict = try await reload(
      file.text.replacing("\"3s\"", with: "\"6s\"").replacing("= 160", with: "= 0"))
    let problem = try #require(verdict.problem)
    #expect(problem.contains("candled.toml:11: sina.requests_per_minute: expected an integer"))
    #expect(daemon.settings.rows == before)
    let report = await daemon.state.report()
    #expect(report.statusLine == "starting · reload refused: \(problem)")
    #expect(report.reload?.refused == 1 && report.reload?.accepted == 0)
  }

  @Test func `the same licence twice is refused by check, start and reload, with its line`()
    async throws
  {
    let path = file.folder + "/licences"
    try file.write("LICENCE-A\nLICENCE-B\n", to: path)
    #expect(chmod(path, 0o600) == 0)
    let text = file.text + "\n[mairui]\nlicence_file = \"\(path)\"\n"
    #expect(try await reload(text).isAccepted)
    let kept = daemon.configuration.credentials
    try file.write("LICENCE-A\n# ours\nLICENCE-A\n", to: path)
    let problem = try #require(try file.read().problem)
    #expect(problem.detail.contains("\(path):3: mairui.licence_file: line 3 repeats line 1"))
    let verdict = try await reload(text)
    #expect(verdict.problem?.contains("line 3 repeats line 1") == true)
    #expect(daemon.configuration.credentials.sourcesChanged(to: kept).isEmpty)
  }

  @Test func `check and reload agree on every mutant, and what is refused changes nothing`()
    async throws
  {
    let seed = UInt64.random(in: .min ... .max)
    var mutants = MutatedConfiguration(file.text, seed: seed)
    var refused = 0
    for round in 0..<400 {
      let mutant = mutants.next()
      let before = daemon.settings.rows
      let symbols = daemon.configuration.polled
      try file.write(mutant, to: file.path)
      let isFit = (try? file.read())?.problem == nil && (try? file.read()) != nil
      let verdict = await daemon.reload { () throws(ConfigurationError) in try file.read() }
      #expect(verdict.isAccepted == isFit, "seed \(seed), mutant \(round):\n\(mutant)")
      if !isFit {
        refused += 1
        #expect(daemon.settings.rows.map(\.value) == before.map(\.value), "seed \(seed), \(round)")
        #expect(daemon.configuration.polled == symbols, "seed \(seed), \(round)")
      }
      // What is in force can be run, whatever it was mixed from.
      #expect(throws: Never.self) { try daemon.settings.validate() }
      _ = daemon.quotes
    }
    #expect((50..<400).contains(refused), "seed \(seed): \(refused) of 400 refused")
    let outcome = await daemon.state.report().reload
    #expect(outcome?.refused == refused && outcome?.accepted == 400 - refused)
  }
}
