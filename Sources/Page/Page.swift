/// The page that the gateway serves: files of this folder, carried by the program. Their path names
/// what they all contain, so that browsers keep them for good and never mix two versions.

import CEmbeddedFiles
import Market

package struct PageFile: Sendable {
  package let contentType: String
  package let bytes: [UInt8]
}

package enum Page {
  /// In front of the name of a file.
  package static let folder = "/page/\(version)/"

  /// What is served at `/`: its references lead to `folder`.
  package static let start = file(
    named: startName,
    text: names.reduce(texts[startName] ?? "") { text, name in
      text.replacing("=\"\(name)\"", with: "=\"\(folder)\(name)\"")
    })

  package static let files = Dictionary(
    uniqueKeysWithValues: names.map { ($0, file(named: $0, text: texts[$0] ?? "")) })

  static let startName = "index.html"

  private static let texts = Dictionary(
    uniqueKeysWithValues: (0..<embedded_page_file_count()).map(embedded_page_file).map {
      (String(cString: $0.name), String(cString: $0.text))
    })
  private static let names = texts.keys.filter { $0 != startName }.sorted()

  package static let version: String = {
    var hash = StableHash()
    for name in names {
      hash.combine(name)
      hash.combine(texts[name] ?? "")
    }
    return String(hash.value, radix: 36)
  }()

  private static func file(named name: String, text: String) -> PageFile {
    let contentType =
      switch name.split(separator: ".").last {
      case "js": "text/javascript; charset=utf-8"
      case "css": "text/css; charset=utf-8"
      case "svg": "image/svg+xml"
      default: "text/html; charset=utf-8"
      }
    return PageFile(contentType: contentType, bytes: Array(text.utf8))
  }
}
