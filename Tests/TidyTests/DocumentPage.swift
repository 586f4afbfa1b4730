/// One page of the documentation, cut into what its links need: headings and links outside code.
import Foundation

@testable import candled_tidy

struct DocumentPage {
  struct Link {
    let written: String
    /// From the package's root; nil if it leads out of the tree.
    let file: String?
    let anchor: String?
  }

  /// From the package's root: `docs/reference/settings.md`.
  let path: String
  let text: String
  /// As GitHub makes them of headings, in order.
  private(set) var anchors: [String] = []
  private(set) var links: [Link] = []
  /// The anchors before a number tells equal ones apart.
  private var headings: [String] = []

  init(path: String, text: String) {
    self.path = path
    self.text = text
    var isCode = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        isCode.toggle()
      } else if !isCode {
        read(line)
      }
    }
  }

  /// The documents at the root, and all of docs/.
  static func all() throws -> [DocumentPage] {
    let files = FileManager.default
    let top = try files.contentsOfDirectory(atPath: SourceTree.root.path)
    let docs = try files.subpathsOfDirectory(atPath: SourceTree.root.appending(path: "docs").path)
    return try (top + docs.map { "docs/\($0)" }).filter { $0.hasSuffix(".md") }.sorted()
      .map { path in
        DocumentPage(
          path: path,
          text: try String(contentsOf: SourceTree.root.appending(path: path), encoding: .utf8))
      }
  }

  private mutating func read(_ line: Substring) {
    if let heading = line.wholeMatch(of: /#+ +(.+)/)?.output.1 {
      let anchor = heading.lowercased().replacing(" ", with: "-")
        .filter { $0.isLetter || $0.isNumber || "-_".contains($0) }
      let earlier = headings.count { $0 == anchor }
      headings.append(anchor)
      anchors.append(earlier == 0 ? anchor : "\(anchor)-\(earlier)")
    }
    for match in line.replacing(/`[^`]*`/, with: "").matches(of: /\]\(([^)\s]+)\)/) {
      let written = String(match.output.1)
      guard !written.contains(":") else { continue }
      let parts = written.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
      links.append(
        Link(
          written: written, file: parts[0].isEmpty ? path : resolve(parts[0]),
          anchor: parts.count > 1 ? String(parts[1]) : nil))
    }
  }

  private func resolve(_ relative: Substring) -> String? {
    guard !relative.hasPrefix("/") else { return nil }
    var folders = path.split(separator: "/").dropLast().map(String.init)
    for part in relative.split(separator: "/") where part != "." {
      if part != ".." {
        folders.append(String(part))
      } else if folders.popLast() == nil {
        return nil
      }
    }
    return folders.joined(separator: "/")
  }
}
