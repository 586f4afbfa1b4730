/// The package's own Swift files, found from where this file was compiled.
import Foundation

struct SourceFile {
  /// From the package's root: `Sources/Feeds/Sina/SinaClock.swift`.
  let path: String
  let text: SourceText

  init(path: String, source: String) {
    self.path = path
    text = SourceText(source)
  }

  var isProduct: Bool { path.hasPrefix("Sources/") }
  var name: Substring { path.split(separator: "/").last ?? "" }
  /// The target's folder: `Feeds`, `MarketTests`.
  var target: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }
}

enum SourceTree {
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Every `.swift` file under Sources and Tests, by path. Read and cut once for all rules.
  static func files() throws -> [SourceFile] { try read.get() }

  private static let read = Result {
    try ["Sources", "Tests"].flatMap { folder in
      try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
        .filter { $0.hasSuffix(".swift") }
        .sorted()
        .map { path in
          SourceFile(
            path: "\(folder)/\(path)",
            source: try String(
              contentsOf: root.appending(path: "\(folder)/\(path)"), encoding: .utf8))
        }
    }
  }
}
