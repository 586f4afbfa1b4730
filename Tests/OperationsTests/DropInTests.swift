import Foundation
import Testing

@testable import Operations

@Suite struct DropInTests {
  /// A folder with `candled.toml` and what is in `dropIns`, gone with the body.
  private func withFolder<Result>(
    _ main: String?, _ dropIns: [String: String], _ body: (String) throws -> Result
  ) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.path + "/drop-ins-\(UUID())"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(
      atPath: folder + "/conf.d", withIntermediateDirectories: true)
    try main.map { try write($0, folder + "/candled.toml") }
    for (name, text) in dropIns { try write(text, "\(folder)/conf.d/\(name)") }
    return try body(folder)
  }

  private func write(_ text: String, _ path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
  }

  private func problems(in folder: String) -> [String] {
    do {
      _ = try ConfigurationFile.load(folder + "/candled.toml", table: .candled)
      return []
    } catch {
      return error.problems.map {
        $0.description.replacingOccurrences(of: folder + "/", with: "")
      }
    }
  }

  @Test func `drop-ins are read after the file, in the order of their names`() throws {
    let dropIns = [
      "20-slow.toml": "quotes.cadence = \"9s\"",
      "10-fast.toml": "quotes.cadence = \"2s\"\nquotes.phase = \"100ms\"",
    ]
    try withFolder("quotes.cadence = \"5s\"\nclock.speed = 7", dropIns) { folder in
      let settings = try ConfigurationFile.load(
        folder + "/candled.toml", overrides: ["quotes.phase=200ms"], table: .candled)
      #expect(settings[QuotesSettings.cadence] == .seconds(9))
      #expect(settings[QuotesSettings.phase] == .milliseconds(200))
      #expect(settings[ClockSettings.speed] == 7)
      let text = settings.inForce
      #expect(text.contains("cadence = \"9s\"  # \(folder)/conf.d/20-slow.toml:1\n"))
      #expect(text.contains("speed = 7  # \(folder)/candled.toml:2\n"))
    }
  }

  @Test func `what is wrong in several files comes at once, each with file and line`() throws {
    let dropIns = [
      "b.toml": "\nquotes.phase = 4", "a.toml": "quotes.cadnce = \"3s\"", "c.toml": "= =",
    ]
    try withFolder("\n\nlog.level = \"loud\"", dropIns) { folder in
      let found = problems(in: folder).map { $0.prefix { $0 != " " } }
      #expect(
        found == ["candled.toml:3:", "conf.d/a.toml:1:", "conf.d/b.toml:2:", "conf.d/c.toml:1:"])
    }
  }

  @Test func `a rule between settings blames the drop-in that broke it`() throws {
    try withFolder("", ["x.toml": "candles.max_silence = \"30s\""]) { folder in
      #expect(
        problems(in: folder) == [
          "conf.d/x.toml:1: candles.max_silence: must be shorter than candles.source_timeout"
        ])
    }
  }

  @Test(arguments: [".hidden.toml", "x.toml~", "x.toml.dpkg-old", "README"])
  func `what an editor or dpkg leaves is no drop-in`(_ name: String) throws {
    try withFolder("", [name: "nonsense"]) { #expect(problems(in: $0) == []) }
  }

  @Test func `more drop-ins than anybody means are an error`() throws {
    let dropIns = Dictionary(
      uniqueKeysWithValues: (0...DropIns.filesMax).map { ("\($0).toml", "") })
    try withFolder("", dropIns) { folder in
      #expect(problems(in: folder) == ["conf.d: contains more than 64 files"])
    }
  }

  @Test func `drop-ins do not stand in for the file they belong to`() throws {
    try withFolder(nil, ["x.toml": ""]) { folder in
      #expect(problems(in: folder) == ["candled.toml: cannot be opened: No such file or directory"])
    }
  }
}
