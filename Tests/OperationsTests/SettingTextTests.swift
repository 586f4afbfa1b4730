import Market
import Testing

@testable import Operations

@Suite struct SettingTextTests {
  @Test(arguments: [
    ("3s", 3000), ("250ms", 250), ("10m", 600_000), ("2h", 7_200_000), ("1d", 86_400_000),
  ])
  func `durations are read and printed in their own unit`(_ text: String, _ milliseconds: Int64) {
    #expect(SettingUnits.duration.parse(text) == milliseconds)
    #expect(SettingUnits.duration.text(milliseconds) == text)
  }

  @Test(arguments: ["", "3", "s", "3 s", "-3s", "1.5s", "3S", "1m30s", "9223372036854775807d"])
  func `anything else is no duration`(_ text: String) {
    #expect(SettingUnits.duration.parse(text) == nil)
  }

  @Test(arguments: [("64MiB", 64 << 20), ("1B", 1), ("20GiB", 20 << 30), ("1023KiB", 1023 << 10)])
  func `sizes are read and printed in their own unit`(_ text: String, _ bytes: Int64) {
    #expect(SettingUnits.bytes.parse(text) == bytes)
    #expect(SettingUnits.bytes.text(bytes) == text)
  }

  @Test(arguments: ["", "64", "64MB", "64 MiB", "-1B", "9223372036854775807KiB"])
  func `anything else is no size`(_ text: String) {
    #expect(SettingUnits.bytes.parse(text) == nil)
  }

  @Test(arguments: [
    ("2026-07-06T09:31:00+08:00", "2026-07-06T09:31:00+08:00"),
    ("2026-07-06T01:31:00Z", "2026-07-06T09:31:00+08:00"),
    ("2026-07-05T20:31:00.25-05:00", "2026-07-06T09:31:00.25+08:00"),
  ])
  func `moments are read with any offset`(_ text: String, _ shanghai: String) {
    #expect(Timestamp(rfc3339: text)?.description == shanghai)
  }

  @Test(arguments: [
    "", "2026-07-06", "2026-07-06T09:31:00", "2026-07-06 09:31:00Z", "2026-07-06T24:00:00Z",
    "2026-02-30T09:31:00Z", "2026-07-06T9:31:00Z", "2026-07-06T09:31:00.Z",
    "2026-07-06T09:31:00.1234567Z", "2026-07-06T09:31:00+0800", "2026-07-06T09:31:00Z ",
  ])
  func `anything else is no moment`(_ text: String) {
    #expect(Timestamp(rfc3339: text) == nil)
  }

  @Test func `the distance counts a swap as one`() {
    #expect(editDistance("cadence", to: "cadence") == 0)
    #expect(editDistance("cadnece", to: "cadence") == 1)
    #expect(editDistance("", to: "abc") == 3)
    #expect(
      nearestName(to: "poll.cadence", among: ["log.level", "quotes.cadence"]) == "quotes.cadence")
    #expect(nearestName(to: "xyz", among: ["log.level"]) == nil)
  }

  @Test func `a file of days is read, and each bad field named`() throws {
    let days = try DayFile.parse(
      "# moon\n2027-02-08, closed, SSE notice ,2027-01-20 # late\n\n"
        + "2027-02-09,trading,SSE,2027-01-20", origin: "days")
    #expect(days.map(\.day.description) == ["2027-02-08", "2027-02-09"])
    #expect(days.map(\.trades) == [false, true] && days[0].source == "SSE notice")
    let error = #expect(throws: ConfigurationError.self) {
      try DayFile.parse(
        "2027-02-30,shut,,soon\n2027-02-08,closed\n2027-02-09,closed,a,2027-01-20\n"
          + "2027-02-09,trading,a,2027-01-20\n2027-02-20,closed,a,2027-01-20\n"
          + "2027-02-21,trading,a,2027-01-20", origin: "days")
    }
    #expect(
      error?.problems.map(\.description) == [
        "days:1: day: expected a date such as 2027-02-08",
        "days:1: status: expected closed or trading",
        "days:1: source: expected who announced it",
        "days:1: announced_on: expected a date such as 2027-01-20",
        "days:2: expected day,status,source,announced_on, found 2 fields",
        "days:4: day: 2027-02-09 is already on line 3",
        "days:6: day: expected a weekday: the exchanges never trade on a weekend",
      ])
  }

  @Test func `a file of links is read, and each bad field named`() throws {
    let links = try LinkFile.parse(
      "# table\n833819.BJ,bj920819,2025-05-06,rename\n"
        + "sh600837,sh601211,2025-03-04,merger,0.62, ,SSE # late", origin: "links")
    #expect(links.map { "\($0.from) \($0.to)" } == ["bj833819 bj920819", "sh600837 sh601211"])
    #expect(
      links.map(\.source) == ["links", "SSE"] && links.allSatisfy { $0.verdict == .declared })
    #expect(try links.map(\.ratio) == [nil, ExactDecimal("0.62")])
    let error = #expect(throws: ConfigurationError.self) {
      try LinkFile.parse(
        "bj833819,bj920819\n12,bj920819,soon,swap,-1\nbj1,bj1,2025-05-06,rename\n"
          + "a,b,2025-05-06,rename\na,b,2025-05-07,merger,1,much", origin: "links")
    }
    let problems = error?.problems.map(\.description) ?? []
    #expect(
      problems == [
        "links:1: expected old,new,day,kind,ratio,cash,source, found 2 fields",
        "links:2: old: expected a code such as bj833819",
        "links:2: day: expected a date such as 2025-05-06",
        "links:2: kind: expected one of rename, merger, conversion, relisting, split_off",
        "links:2: ratio: expected a number such as 0.62",
        "links:3: new: expected another code such as bj920819",
        "links:5: cash: expected a number such as 0.62",
        "links:5: old: a to b is already on line 4",
      ], "\(problems)")
  }

  @Test func `a file of links gives a code one code before it and one after`() {
    let day = ",2025-05-06,rename\n"
    let error = #expect(throws: ConfigurationError.self) {
      try LinkFile.parse(
        ["sh1,sh2", "sh2,sh3", "sh3,sh1", "sh4,sh3", "sh1,sh5"].map { $0 + day }.joined(),
        origin: "links")
    }
    #expect(
      error?.problems.map(\.description) == [
        "links:3: new: sh1 became sh3 on earlier lines",
        "links:4: new: sh2 became sh3 on an earlier line",
        "links:5: new: sh1 became sh2 on an earlier line",
      ])
  }

  @Test func `a file of symbols is read, and each bad line named`() throws {
    let symbols = try SymbolFile.parse("# all\nsh600519\n\nsz000001 # bank\r\n", origin: "list")
    #expect(symbols.map(\.description) == ["sh600519", "sz000001"])
    let error = #expect(throws: ConfigurationError.self) {
      try SymbolFile.parse("sh600519\n行情\nsh600519", origin: "list")
    }
    #expect(
      error?.problems.map(\.description) == [
        "list:2: expected a symbol such as sh600519", "list:3: sh600519 is already on line 1",
      ])
  }
}
