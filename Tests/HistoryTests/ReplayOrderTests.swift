import Glibc
import History
import Market
import TestSupport
import Testing

@testable import Ingest
@testable import Journal

/// The entries of several daemons in the order in which they became rows.
@Suite struct `A replay's order` {
  /// The folder of one daemon's journal.
  private struct Daemon {
    let path: String
    let name: String

    init(_ build: (JournalWriter) throws -> Void) throws {
      path = try PrivateCluster.freshDirectory() + "/journal"
      let identity = try JournalIdentity(directory: path)
      name = identity.name
      let writer = try JournalWriter(directory: path, identity: identity)
      try build(writer)
      try writer.sync()
    }
  }

  private static func entry(_ key: String) -> JournalEntry {
    JournalEntry(
      kind: .response, source: .live, key: key, requestedAt: StoreSamples.start,
      receivedAt: StoreSamples.start, status: 200, request: [], body: [])
  }

  private static func start(_ term: Int64, after daemon: Daemon, at entry: Int64) -> JournalEntry {
    .termStart(
      TermStart(
        term: term, fromJournal: daemon.name, fromPosition: JournalPosition(entry)),
      at: StoreSamples.start)
  }

  private func keys(
    of journals: [Daemon], after begin: Int64 = 0
  ) throws -> [String] {
    var order = try ReplayOrder(journals.map(\.path), from: JournalPosition(begin))
    var keys: [String] = []
    while let next = try order.next() { keys.append(next.entry.key) }
    return keys
  }

  private static func append(_ keys: [String], to writer: JournalWriter) throws {
    for key in keys { try writer.append(entry(key)) }
  }

  @Test func `of one journal is its own`() throws {
    let daemon = try Daemon { try Self.append(["a", "b", "c"], to: $0) }
    #expect(try keys(of: [daemon]) == ["a", "b", "c"])
    #expect(try keys(of: [daemon], after: 2) == ["c"])
  }

  @Test func `ends each term where the next one began, whatever order they are named in`() throws {
    // `c` was never committed: the second daemon went on behind `b`.
    let first = try Daemon { try Self.append(["a", "b", "c"], to: $0) }
    let second = try Daemon { writer in
      try writer.append(Self.start(2, after: first, at: 2))
      try Self.append(["d", "e"], to: writer)
    }
    for journals in [[first, second], [second, first]] {
      #expect(try keys(of: journals) == ["a", "b", "term", "d", "e"])
    }
  }

  @Test func `refuses journals that do not continue each other`() throws {
    let daemon = try Daemon { try Self.append(["a"], to: $0) }
    let other = try Daemon { try Self.append(["b"], to: $0) }
    let unrelated = #expect(throws: HistoryError.self) { try keys(of: [daemon, other]) }
    #expect(unrelated?.code == .journalMismatch)
    #expect(unrelated?.description.hasPrefix("none of these journals continues") == true)
    let heir = try Daemon { try $0.append(Self.start(2, after: daemon, at: 1)) }
    let alone = #expect(throws: HistoryError.self) { try keys(of: [heir]) }
    #expect(alone?.code == .journalMismatch)
    #expect(
      alone?.description
        == "term 2 continues the journal \(daemon.name) of another daemon: name its folder, too")
    let third = try Daemon { try $0.append(Self.start(4, after: daemon, at: 1)) }
    let missing = #expect(throws: HistoryError.self) { try keys(of: [daemon, heir, third]) }
    #expect(missing?.description.hasSuffix("a journal is missing") == true)
  }

  @Test func `begins at an entry of a journal whose oldest were deleted, if told to`() throws {
    var options = JournalOptions()
    options.segmentBytes = 4_096
    let path = try PrivateCluster.freshDirectory() + "/journal"
    let writer = try JournalWriter(directory: path, options: options)
    for number in 0..<200 { try writer.append(Self.entry("entry-\(number)")) }
    try writer.sync()
    let segments = try JournalDirectory(path: path).segments()
    #expect(segments.count > 1)
    for segment in segments.dropLast() { unlink(path + "/" + segment.name) }
    let error = #expect(throws: HistoryError.self) {
      try ReplayOrder([path], from: .start)
    }
    #expect(error?.code == .journalMismatch)
    let words = try #require(error?.description.components(after: "use --from-position "))
    let position = try #require(Int64(words))
    var order = try ReplayOrder([path], from: JournalPosition(position))
    #expect(try order.next()?.position == JournalPosition(position + 1))
  }
}

extension String {
  fileprivate func components(after words: String) -> Substring? {
    ranges(of: words).first.map { self[$0.upperBound...] }
  }
}
