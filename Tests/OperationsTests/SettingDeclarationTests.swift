import Market
import TestSupport
import Testing

@testable import Operations

/// Settings that a source declares, through everything the table does with a setting.
@Suite struct SettingDeclarationTests {
  private enum Feed: String, CaseIterable { case slow, fast }

  private static let base = Setting.origin(
    "tokyo.base", default: "https://quotes.example", help: "Where quotes are requested.")
  private static let hosts = Setting.origins(
    "tokyo.hosts", default: ["https://a.example", "https://b.example"], help: "In this order.")
  private static let budget = Setting.integer(
    "tokyo.requests_per_minute", default: 60, in: 1...600, help: "Budget for the host."
  ).live
  private static let delay = Setting.duration(
    "tokyo.delay", default: .seconds(0), in: .zero ... .seconds(60), help: "How far behind.")
  private static let keyFile = Setting.optionalString(
    "tokyo.key_file", unset: "no quotes", help: "File with one key.")
  private static let symbols = Setting.symbols("tokyo.symbols", help: "Instruments.")
    .needing("tokyo.key_file")
  private static let feed = Setting.choice("tokyo.feed", default: Feed.slow, help: "Series.")
  private static let note = Setting.string("tokyo.note", default: "none", help: "A word.")
  private static let follow = Setting.boolean("tokyo.follow", default: false, help: "All.")

  private static let table = SettingTable(sources: [
    SettingSection(
      "tokyo", base, hosts, budget, delay, keyFile, symbols, feed, note, follow)
  ])

  private func problems(in text: String) -> [String] {
    do {
      _ = try ConfigurationFile.parse(text, origin: "c.toml", table: Self.table)
      return []
    } catch {
      return error.problems.map(\.description)
    }
  }

  @Test func `a declared setting has its default until it is set`() throws {
    let unset: any SettingValues = Settings(Self.table)
    #expect(unset[Self.base] == "https://quotes.example" && unset[Self.hosts].count == 2)
    #expect(unset[Self.budget] == 60 && unset[Self.delay] == .zero && unset[Self.keyFile] == nil)
    #expect(unset[Self.symbols] == [] && unset[Self.feed] == .slow && !unset[Self.follow])
    let set = try ConfigurationFile.parse(
      """
      [tokyo]
      base = "http://127.0.0.1:1"
      hosts = ["http://c.example"]
      requests_per_minute = 7
      delay = "5s"
      key_file = "/k"
      symbols = ["sh600519"]
      feed = "fast"
      note = "two words"
      follow = true
      """, origin: "c.toml", table: Self.table)
    #expect(set[Self.base] == "http://127.0.0.1:1" && set[Self.hosts] == ["http://c.example"])
    #expect(set[Self.budget] == 7 && set[Self.delay] == .seconds(5) && set[Self.keyFile] == "/k")
    #expect(set[Self.symbols].map(\.description) == ["sh600519"] && set[Self.feed] == .fast)
    #expect(set[Self.note] == "two words" && set[Self.follow])
  }

  @Test func `a declared setting is checked as strictly as any other`() {
    #expect(
      problems(
        in: """
          [tokyo]
          requests_per_minutes = 1
          requests_per_minute = 601
          feed = "brisk"
          """) == [
          "c.toml:2: tokyo.requests_per_minutes: unknown setting; did you mean "
            + "tokyo.requests_per_minute?",
          "c.toml:3: tokyo.requests_per_minute: expected an integer in 1…600, found 601",
          "c.toml:4: tokyo.feed: expected one of slow, fast, found \"brisk\"",
        ])
    #expect(
      problems(in: "tokyo.symbols = [\"sh600519\"]") == [
        "c.toml:1: tokyo.symbols: needs tokyo.key_file"
      ])
  }

  @Test func `a declared setting is in the sample, the reference and the reload`() throws {
    #expect(Self.table.example.contains("\n[tokyo]\n"))
    #expect(Self.table.reference.contains("| `tokyo.requests_per_minute` | integer | `60` |"))
    #expect(Self.table["tokyo.requests_per_minute"]?.isLive == true)
    let old = Settings(Self.table)
    var new = old
    try new.overlay(key: "tokyo.requests_per_minute", value: "9")
    try new.overlay(key: "tokyo.delay", value: "9s")
    #expect(old.changes(to: new) == ["tokyo.requests_per_minute", "tokyo.delay"])
    let taken = old.takingLive(from: new)
    #expect(taken[Self.budget] == 9 && taken[Self.delay] == .zero)
    #expect(SettingTable.shared["tokyo.delay"] == nil)
  }
}
