import Foundation

@testable import candled_tidy

/// What comments cite: pages, their headings and files, all of which must be in the repository. A
/// reader who cannot open what a comment rests on cannot judge it.
enum Citations {
  /// What `text` cites and the repository does not have.
  static func missing(in text: String) -> [String] {
    let pages = text.matches(of: #/[\w./+-]+\.md(?:#([\w-]+))?/#).filter { match in
      let path = match.output.0.prefix { $0 != "#" }
      let page = DocumentPage.ofTree.first { $0.path == path }
      return match.output.1.map { page?.anchors.contains(String($0)) != true } ?? (page == nil)
    }
    let files = text.matches(of: #/[\w+-]+\.(?:swift|sql)\b/#).filter {
      !fileNames.contains(String($0.output))
    }
    let notes = text.matches(of: #/\b(?:DESIGN|TOOLCHAIN|MEASURED|upstreams\/|issue \d+)/#)
    return pages.map { String($0.output.0) } + files.map { String($0.output) }
      + notes.map { String($0.output) }
  }

  private static let fileNames: Set<String> = {
    let files = FileManager.default
    let top = (try? files.contentsOfDirectory(atPath: SourceTree.root.path)) ?? []
    let below = ["Sources", "Tests"].flatMap { folder in
      (try? files.subpathsOfDirectory(atPath: SourceTree.root.appending(path: folder).path)) ?? []
    }
    return Set((top + below).compactMap { $0.split(separator: "/").last.map(String.init) })
  }()
}

extension DocumentPage {
  /// Read once for all comments; empty if the documents cannot be read, and then nothing is there.
  static let ofTree: [DocumentPage] = (try? all()) ?? []
}

extension Rule {
  static let references = [citations]

  static let citations = lines("comments cite what is in the repository") { line in
    Citations.missing(in: line.comment).first.map { "cites \($0)" }
  }
}
