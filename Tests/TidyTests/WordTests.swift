import Foundation
import Testing

@testable import candled_tidy

/// The texts beside Swift that people read: pages, configuration, units, scripts, and the comments
/// and messages of the schema.
@Suite struct WordTests {
  private struct Text {
    var path: String
    /// Counted from 1.
    var line: Int
    var text: String
  }

  @Test func `no page, script or SQL text has a banned word`() throws {
    let texts = try Self.texts()
    for path in [
      "README.md", "CHANGELOG.md", "docs/operations.md", "docs/reference/metrics.md",
      "config/alerts.yml", "systemd/candled.service", "script/test", "schema.sql",
    ] {
      #expect(texts.contains { $0.path == path }, "\(path) is not read")
    }
    for text in texts {
      for word in BannedWords.found(in: text.text, of: text.path) {
        Issue.record("\(text.path):\(text.line): the banned word '\(word)'")
      }
    }
  }

  @Test func `a banned word is found whole, in any case and over a line break`() {
    #expect(BannedWords.found(in: "the source TELLS no more", of: "README.md") == ["tells"])
    #expect(BannedWords.found(in: "a list is\n  rows", of: "README.md") == ["is rows"])
    #expect(BannedWords.found(in: "workshop, foretells, retold, desktop", of: "README.md") == [])
  }

  @Test func `an exception is good for its place and its neighbours only`() {
    #expect(BannedWords.found(in: "nobody", of: "Sources/Store/A.swift") == [])
    #expect(BannedWords.found(in: "nobody reads", of: "Sources/Store/A.swift") == ["nobody"])
    #expect(BannedWords.found(in: "nobody", of: "docs/install.md") == ["nobody"])
  }

  @Test func `of SQL only its texts are read`() {
    let sql = """
      -- it's told here
      with told as (select 1)
      comment on view a is 'What it ''tells'', '
        'and more.';
      select 'b' from told
      """
    let texts = BannedWords.quotedTexts(inSQL: sql)
    #expect(texts.map(\.text) == ["What it 'tells', and more.", "b"])
    #expect(texts.map(\.line) == [2, 4])
  }

  private static func texts() throws -> [Text] {
    let files = FileManager.default
    let folders = try ["docs", "config", "systemd", "script"].flatMap { folder in
      try files.subpathsOfDirectory(atPath: SourceTree.root.appending(path: folder).path)
        .map { "\(folder)/\($0)" }
    }
    let top = try files.contentsOfDirectory(atPath: SourceTree.root.path).filter {
      $0.hasSuffix(".md") || $0 == "schema.sql"
    }
    return (top + folders).sorted().flatMap { path -> [Text] in
      let file = SourceTree.root.appending(path: path)
      var isFolder: ObjCBool = false
      guard files.fileExists(atPath: file.path, isDirectory: &isFolder), !isFolder.boolValue,
        let text = try? String(contentsOf: file, encoding: .utf8)
      else { return [] }
      if path.hasSuffix(".sql") {
        return BannedWords.quotedTexts(inSQL: text).map {
          Text(path: path, line: $0.line + 1, text: $0.text)
        }
      }
      return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map {
        Text(path: path, line: $0.offset + 1, text: String($0.element))
      }
    }
  }
}
