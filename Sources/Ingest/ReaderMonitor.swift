import EmbeddedPostgres
import Market

/// Which readers' sessions of the private cluster are ended so that the daemon's are served: the
/// youngest while connections run out, those whose client has not taken its answer for long, and
/// those that write. `statement_timeout` does not reach the former: a session that is sending a row
/// looks at no timer. No right keeps a reader from the latter: `grant` of what everybody may call.
package struct ReaderMonitor {
  package enum Reason: Sendable, Equatable {
    case connectionsRanOut(free: Int)
    case clientDoesNotRead(seconds: Int64)
    case changesData
  }

  package struct Ending: Sendable, Equatable {
    package var reader: SessionCensus.Reader
    package var reason: Reason
  }

  /// The connections for the daemon's two sessions, those of a backfill, and what an operator
  /// types.
  package static let connectionsFreeMin = 8
  /// The longest time to write, as `statement_timeout` of the readers' role.
  package static let writingSecondsMax: Int64 = 300
  /// How soon a daemon that starts finds a free connection.
  package static let lookMilliseconds: Int64 = 2_000

  private struct Statement: Hashable {
    var process: Int32
    var beganAt: Timestamp?
  }

  private struct Session: Hashable {
    var process: Int32
    var connectedAt: Timestamp

    init(_ reader: SessionCensus.Reader) {
      process = reader.process
      connectedAt = reader.connectedAt
    }
  }

  private var writingSince: [Statement: Timestamp] = [:]
  /// The sessions whose transaction had a number at the last look.
  private var changing: Set<Session> = []

  package init() {}

  /// - Parameter now: of a clock that nobody sets.
  package mutating func found(_ census: SessionCensus, at now: Timestamp) -> [Ending] {
    let writing = census.readers.filter(\.isWriting)
    writingSince = writing.reduce(into: [:]) { since, reader in
      let statement = Statement(process: reader.process, beganAt: reader.statementAt)
      since[statement] = writingSince[statement] ?? now
    }
    let changedBefore = changing
    changing = Set(census.readers.filter(\.hasTransactionID).map(Session.init))
    let changesStill = changing.intersection(changedBefore)
    var endings = census.readers.compactMap { reader -> Ending? in
      if changesStill.contains(Session(reader)) {
        return Ending(reader: reader, reason: .changesData)
      }
      let statement = Statement(process: reader.process, beganAt: reader.statementAt)
      let seconds = now.microseconds(since: writingSince[statement] ?? now) / 1_000_000
      guard reader.isWriting, seconds >= Self.writingSecondsMax else { return nil }
      return Ending(reader: reader, reason: .clientDoesNotRead(seconds: seconds))
    }
    let wanted = Self.connectionsFreeMin - census.free - endings.count
    guard wanted > 0 else { return endings }
    let ended = Set(endings.map(\.reader))
    endings += census.readers.filter { !ended.contains($0) }.prefix(wanted).map {
      Ending(reader: $0, reason: .connectionsRanOut(free: census.free))
    }
    return endings
  }
}

extension ReaderMonitor.Reason: CustomStringConvertible {
  package var description: String {
    switch self {
    case .connectionsRanOut(let free):
      "ended the youngest session of a reader: only \(counted(max(free, 0), "connection")) free"
    case .clientDoesNotRead(let seconds):
      "ended the session of a reader: its client has not read for \(seconds) s"
    case .changesData:
      "ended the session of a reader: it was writing"
    }
  }
}
