import Feeds
import Glibc
import Logging
import Market
import TestSupport
import Testing

@testable import Operations

@Suite struct ConfigurationTests {
  private func problems(in text: String) -> [String] {
    do {
      _ = try ConfigurationFile.parse(text, origin: "c.toml", table: .candled)
      return []
    } catch {
      #expect(error.exitCode == .configuration)
      return error.problems.map(\.description)
    }
  }

  @Test func `an empty file leaves every setting at its default`() throws {
    let settings = try ConfigurationFile.parse("", origin: "c.toml", table: .candled)
    #expect(settings[QuotesSettings.cadence] == .seconds(3))
    #expect(settings[JournalSettings.segmentBytes] == 64 << 20)
    #expect(settings[StoreSettings.url] == nil)
    #expect(settings[LogSettings.level] == Logger.Level.info)
    #expect(settings.journalPath == "/var/lib/candled/journal")
  }

  @Test func `values of every type arrive typed`() throws {
    let settings = try ConfigurationFile.parse(
      """
      state_directory = '/srv/candled'
      store.url = "postgres://candled:hunter22@db/candled"
      [quotes]
      symbols = [ # two
        "sh600519",
        "sz000001", # trailing comma
      ]
      cadence = "6s"
      [sina]
      batch_symbols = 400
      [journal]
      retain_bytes = "2GiB"
      [log]
      format = "json"
      [clock]
      mode = "scaled"
      start = "2026-07-06T09:15:00+08:00"
      """, origin: "c.toml", table: .candled)
    #expect(settings[StateSettings.directory] == "/srv/candled")
    #expect(settings[StoreSettings.url]?.reveal() == "postgres://candled:hunter22@db/candled")
    #expect(settings[QuotesSettings.symbols].map(\.description) == ["sh600519", "sz000001"])
    #expect(settings[QuotesSettings.cadence] == .seconds(6))
    let batchSymbols = SourceRegistry.quotes(of: .live).batchSymbols
    #expect(settings[batchSymbols] == 400)
    #expect(settings[JournalSettings.retainBytes] == 2 << 30)
    #expect(settings[LogSettings.format] == .json)
    #expect(settings[ClockSettings.mode] == .scaled)
    #expect(settings[ClockSettings.start]?.description == "2026-07-06T09:15:00+08:00")
  }

  @Test func `all problems come at once, each with its line, in the order of the file`() {
    let found = problems(
      in: """
        # a comment with quotes.cadence = 1
        state_direktory = "x"

        [quotes]
        symbols = [
          "sh600519",
          "sh600519",
        ]
        cadense = "3s"
        deadline = "3"      # no unit
        phase = 3
        [sina]
        batch_symbols = 900
        [journal]
        segment_bytes = "64MB"
        retain_days = "7"
        [quote]
        overview = []
        [log]
        level = "loud"
        """)
    #expect(
      found == [
        "c.toml:2: state_direktory: unknown setting; did you mean state_directory?",
        "c.toml:5: quotes.symbols: expected each symbol once, found \"sh600519\" twice",
        "c.toml:9: quotes.cadense: unknown setting; did you mean quotes.cadence?",
        "c.toml:10: quotes.deadline: expected a duration such as \"2500ms\" "
          + "(units ms, s, m, h, d) in 100ms…1m, found \"3\"",
        "c.toml:11: quotes.phase: expected a duration such as \"400ms\" "
          + "(units ms, s, m, h, d) in 0s…1m, found 3",
        "c.toml:13: sina.batch_symbols: expected an integer in 2…800, found 900",
        "c.toml:15: journal.segment_bytes: expected a size such as \"64MiB\" "
          + "(units B, KiB, MiB, GiB, TiB) in 1MiB…1GiB, found \"64MB\"",
        "c.toml:16: journal.retain_days: expected an integer in 1…3650, found \"7\"",
        "c.toml:18: quote.overview: unknown setting; did you mean quotes.overview?",
        "c.toml:20: log.level: expected one of trace, debug, info, notice, warning, error, "
          + "critical, found \"loud\"",
      ])
  }

  @Test func `text that is not TOML is one problem with its line`() {
    let found = problems(in: "[quotes]\ncadence = \n")
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("c.toml:2: not TOML: ") == true)
  }

  @Test(arguments: [
    ("sina = 3", "c.toml:1: sina: is a section, not a setting"),
    ("[log.level]\n", "c.toml:1: log.level: expected one of"),
    ("[nonsense]\n", "c.toml:1: nonsense: unknown setting"),
    ("\nquotes = { cadense = \"3s\" }", "c.toml:2: quotes.cadense: unknown setting; did you mean"),
    ("[[quotes]]\ncadence = \"3s\"", "c.toml:1: quotes: is a section"),
    ("clock.start = 2026-07-06", "found a bare date; put it in quotes"),
    ("quotes.symbols = [1, 2]", "found a list of other values"),
    ("quotes.symbols = [\"行情\"]", "expected symbols such as \"sh600519\", found \"行情\""),
    ("sina.base = \"https://hq.sinajs.cn/list\"", "expected an origin such as"),
    ("journal.directory = 3", "expected a string, found 3"),
  ])
  func `a value in the wrong place is named`(_ text: String, _ expected: String) {
    #expect(problems(in: text).first?.contains(expected) == true, "\(problems(in: text))")
  }

  @Test func `a batch has room for a symbol beside the index that rides in each`() {
    #expect(
      problems(in: "sina.batch_symbols = 1") == [
        "c.toml:1: sina.batch_symbols: expected an integer in 2…800, found 1"
      ])
  }

  @Test func `what must hold between settings is checked`() {
    #expect(
      problems(in: "candles.max_silence = \"30s\"") == [
        "c.toml:1: candles.max_silence: must be shorter than candles.source_timeout"
      ])
    #expect(
      problems(in: "quotes.cadence = \"1s\"\nquotes.phase = \"1s\"") == [
        "c.toml:2: quotes.phase: must be shorter than quotes.cadence"
      ])
    #expect(
      problems(in: "gateway.same_day_funds = [\"sh600519\"]") == [
        "c.toml:1: gateway.same_day_funds: must be funds, such as sh518880"
      ])
  }

  @Test func `overrides win over the file and are as strict`() throws {
    let settings = try ConfigurationFile.load(
      nil, overrides: ["quotes.cadence=6s", "quotes.symbols=sh600519,sz000001", "clock.speed=600"],
      table: .candled)
    #expect(settings[QuotesSettings.cadence] == .seconds(6))
    #expect(settings[QuotesSettings.symbols].count == 2)
    #expect(settings[ClockSettings.speed] == 600)
    let error = #expect(throws: ConfigurationError.self) {
      try ConfigurationFile.load(
        nil, overrides: ["quotes.cadense=6s", "log.level=9", "x"], table: .candled)
    }
    #expect(
      error?.problems.map(\.description) == [
        "--set: quotes.cadense: unknown setting; did you mean quotes.cadence?",
        "--set: log.level: expected one of trace, debug, info, notice, warning, error, critical, "
          + "found \"9\"",
        "--set: expected key=value",
      ])
  }

  @Test(arguments: ["hunter22", "hunter?22", "hunter22?x=1"])
  func `a password is not taken from the command line`(password: String) throws {
    var settings = Settings(.candled)
    let error = #expect(throws: ConfigurationError.self) {
      try settings.overlay(key: "store.url", value: "postgres://a:\(password)@b/c")
    }
    #expect(error?.description.contains("contains a password") == true)
    #expect(error?.description.contains("hunter") == false)
    try settings.overlay(key: "store.url", value: "postgres://b/c")
    #expect(settings[StoreSettings.url]?.reveal() == "postgres://b/c")
  }

  @Test(arguments: ["hunter/22", "hunter@22", "h@un/ter"])
  func `a password that libpq would cut in two is refused`(password: String) {
    let found = problems(in: "store.url = \"postgres://a:\(password)@b/c\"")
    let printed = found.joined(separator: "\n")
    #expect(found.count == 1 && printed.contains("write / as %2F and @ as %40"))
    #expect(!printed.contains("hunter") && !printed.contains("ter@"))
  }

  @Test(arguments: [
    "postgres://a:hunter%2F22@b/c", "postgresql:///c?host=/run&user=me@b", "postgres://[::1]:1/c",
  ])
  func `an address that libpq reads as it was meant is taken`(url: String) {
    #expect(problems(in: "store.url = \"\(url)\"") == [])
  }

  @Test func `a missing file is unreadable, not invalid`() {
    let error = #expect(throws: ConfigurationError.self) {
      try ConfigurationFile.load("/nonexistent/candled.toml", table: .candled)
    }
    #expect(error?.exitCode == .noInput)
  }

  @Test func `the configuration in force shows origins and no secret`() throws {
    var settings = try ConfigurationFile.parse(
      "\nstore.url = \"postgres://a:hunter22@b/c\"", origin: "c.toml", table: .candled)
    try settings.overlay(key: "quotes.cadence", value: "5s")
    let text = settings.inForce
    let mask = SecretMask()
    settings.register(in: mask)
    #expect(mask.masked("as hunter22") == "as ***")
    #expect(text.contains("url = \"***\"  # c.toml:2\n"))
    #expect(text.contains("cadence = \"5s\"  # --set\n"))
    #expect(text.contains("batch_symbols = 800  # default\n"))
    #expect(!text.contains("hunter22"))
  }

  @Test func `the problem with a secret never shows it`() {
    #expect(problems(in: "store.url = 12345678").first?.contains("12345678") == false)
  }

  @Test func `the sample is valid, and so is every line it comments out`() throws {
    let settings = try ConfigurationFile.parse(
      SettingTable.candled.example, origin: "sample", table: .candled)
    #expect(settings[QuotesSettings.symbols].count > 50)
    let lines = SettingTable.candled.example.split(separator: "\n").map { line in
      line.hasPrefix("#") && !line.hasPrefix("# ") ? String(line.dropFirst()) : String(line)
    }
    let uncommented = lines.joined(separator: "\n")
    let whole = try ConfigurationFile.parse(uncommented, origin: "sample", table: .candled)
    #expect(whole.entries.count == SettingTable.candled.keys.count)
    for setting in SettingTable.candled.rows where setting.exampleLines == nil {
      let value = try #require(whole.entries[setting.key]).value
      #expect(setting.text(value) == setting.defaultText, "\(setting.key)")
    }
  }

  @Test func `config/candled.toml is the sample`() throws {
    let path = "\(repository)/config/candled.toml"
    if getenv("CANDLED_RECORD") != nil, let file = fopen(path, "we") {
      fputs(SettingTable.candled.example, file)
      fclose(file)
    }
    #expect(try ConfigurationFile.read(path) == SettingTable.candled.example)
  }

  @Test func `names and reference cover the table`() {
    let keys = SettingTable.candled.keys
    #expect(keys.count == Set(keys).count && keys.count >= 24)
    for key in keys { #expect(SettingTable.candled.reference.contains("| `\(key)` |")) }
    #expect(!SettingTable.candled.reference.contains("||"))
  }

  private var repository: String {
    #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
  }
}
