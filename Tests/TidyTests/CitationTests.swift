import Foundation
import Testing

@testable import candled_tidy

/// The texts beside Swift whose comments may cite something; those of Swift are held by the rule.
@Suite struct CitationTests {
  /// It names the files that it writes.
  private static let exceptions: Set = ["script/new-source"]

  @Test func `no script, unit, configuration or SQL cites what is not in the repository`() throws {
    let paths = try Self.paths()
    for path in [
      "config/candled.toml", "script/test", "schema.sql", "Sources/AppStore/schema_app.sql",
    ] {
      #expect(paths.contains(path), "\(path) is not read")
    }
    for path in paths {
      let file = SourceTree.root.appending(path: path)
      guard let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
      let cited = text.replacing("/usr/share/doc/candled/", with: "")
      for missing in Citations.missing(in: cited) { Issue.record("\(path) cites \(missing)") }
    }
  }

  private static func paths() throws -> [String] {
    let files = FileManager.default
    let folders = try ["config", "systemd", "script"].flatMap { folder in
      try files.subpathsOfDirectory(atPath: SourceTree.root.appending(path: folder).path)
        .map { "\(folder)/\($0)" }
    }
    return ["schema.sql", "Sources/AppStore/schema_app.sql"]
      + folders.filter { !exceptions.contains($0) }.sorted()
  }
}
