import Glibc
import Market
import Platform

/// What is known of the copies of the private cluster without a server.
package struct BackupState: Sendable, Hashable {
  /// When the newest base copy of this major version was begun; nil before the first.
  package var baseAt: Timestamp?
  /// Segments of the log that are not in the archive yet.
  package var waitingSegments: Int
  /// Why the log behind the newest base copy cannot be restored; nil while it can.
  package var hole: String?
  /// nil before the first.
  package var drill: DrillResult?

  package init(baseAt: Timestamp?, waitingSegments: Int, drill: DrillResult?) {
    self.baseAt = baseAt
    self.waitingSegments = waitingSegments
    self.drill = drill
  }

  /// nil where no copies are made.
  package init?(of server: EmbeddedServer) {
    guard let backup = try? server.backups() else { return nil }
    // Behind an upgrade those of the old version restore nothing that came after it.
    let base = backup.bases.last { backup.major(of: $0) == server.major }
    baseAt = base?.madeAt
    do throws(EmbeddedServerError) {
      if let base, let first = backup.firstSegment(of: base) {
        _ = try backup.lastSegment(of: base.system, from: first)
      }
    } catch {
      hole = error.sentence
    }
    let names = Folder.names(in: server.dataDirectory + "/pg_wal/archive_status") ?? []
    waitingSegments = names.count { $0.hasSuffix(".ready") }
    drill = server.drillResult
  }
}

/// What came of the last drill, in a file beside the data.
package struct DrillResult: Sendable, Hashable {
  package var at: Timestamp
  package var hasPassed: Bool
  /// What was counted, or why it failed, on one line.
  package var sentence: String

  private static let words = [true: "passed", false: "failed"]

  package init(at moment: Timestamp, hasPassed: Bool, sentence: String) {
    at = moment
    self.hasPassed = hasPassed
    self.sentence = sentence.split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  var text: String { "\(Self.words[hasPassed] ?? "") \(MarketZone.utc.text(of: at)) \(sentence)\n" }

  /// nil for another text.
  init?(text: String) {
    let words = text.split(separator: " ", maxSplits: 2)
    guard words.count == 3, let found = Self.words.first(where: { $0.value == words[0] }),
      let moment = Timestamp(rfc3339: words[1])
    else { return nil }
    self.init(at: moment, hasPassed: found.key, sentence: String(words[2]))
  }
}

extension EmbeddedServer {
  private var drillPath: String { directory + "/drill.state" }

  var drillResult: DrillResult? { DrillResult(text: SmallFile.text(of: drillPath)) }

  func save(_ result: DrillResult) throws(EmbeddedServerError) {
    try replaceForGood(drillPath, by: result.text)
  }
}
