/// Committing one sweep of the whole market in which every instrument changed, against the same
/// rows through libpq alone: a bare COPY into a staging table and the MERGE, no change feed, no
/// journal position, no encoding. Both on one durable server, taking turns.

import CPostgres
import Glibc
import Market
import Store
import TestSupport

let commitSection = BenchSection(
  name: "commit", title: "one sweep of 5,400 changed quotes, values in, durable rows out"
) {
  do {
    let rows = try CommitBench.measure()
    report(rows)
    judge("a commit", rows[1].median, atMost: 40, "ms")
    judge("against bare COPY and MERGE", rows[1].median / rows[0].median, atMost: 2.5, "×")
  } catch {
    say("  FAILED: \(error)")
  }
}

private enum CommitBench {
  static let roundsMax = 60
  static let instruments = 5400

  static func measure() throws -> [BenchRow] {
    let server = EmbeddedServer(directory: try PrivateCluster.freshDirectory())
    try server.start()
    defer { try? server.stop() }
    let url = server.connectionString
    try Schema.apply(url: url)
    let writer = StoreWriter(url: url)
    var samples = StoreSamples(seed: 20_260_706)
    // Two sweeps that differ in every row take turns: each commit changes every row.
    var sweeps = (0..<2).map {
      samples.sweep(position: $0, instruments: instruments, second: 36_000 + Int($0))
    }
    try blocking { [sweep = sweeps[0]] in
      try await writer.connect()
      _ = try await writer.commit(sweep)
    }
    let bare = try BareWriter(url: url)
    try bare.keepSweep()
    sweeps[1].position = JournalPosition(1)
    try blocking { [sweep = sweeps[1]] in _ = try await writer.commit(sweep) }
    try bare.keepSweep()
    var floor = BenchRow("libpq: bare COPY and MERGE")
    var ours = BenchRow("candled: commit")
    for round in 0..<roundsMax {
      floor.measure { bare.write(round % 2) }
      sweeps[round % 2].position = JournalPosition(Int64(round + 2))
      let sweep = sweeps[round % 2]
      var changed = 0
      ours.measure { changed = (try? blocking { try await writer.commit(sweep).quotes }) ?? -1 }
      precondition(changed == instruments, "\(changed) rows changed")
    }
    return [floor, ours]
  }
}

/// The same rows by libpq alone.
private final class BareWriter {
  private let handle: OpaquePointer
  private var sweeps: [[UInt8]] = []

  struct Failure: Error { let sentence: String }

  init(url: String) throws {
    guard let handle = PQconnectdb(url), PQstatus(handle) == CONNECTION_OK else {
      throw Failure(sentence: "no connection")
    }
    self.handle = handle
    run(
      """
      set search_path = candled;
      create table bare (like quote including all) with (fillfactor = 50);
      create temporary table stage on commit delete rows as table quote with no data
      """)
    run("prepare bare_merge as \(merge())")
  }

  deinit { PQfinish(handle) }

  private func run(_ sql: String) {
    let answer = PQexec(handle, sql)
    let status = PQresultStatus(answer)
    precondition(status == PGRES_COMMAND_OK || status == PGRES_COPY_IN || status == PGRES_COPY_OUT)
    PQclear(answer)
  }

  private func merge() -> String {
    let columns = rows(
      "select attname from pg_attribute where attrelid = 'quote'::regclass and attnum > 0")
    let values = columns.filter { $0 != "instrument_id" }
    func list(_ names: [String], _ table: String) -> String {
      names.map { "\(table).\($0)" }.joined(separator: ", ")
    }
    return """
      merge into bare q
      using stage s
      on q.instrument_id = s.instrument_id
      when matched and (\(list(values, "q"))) is distinct from (\(list(values, "s")))
      then update set \(values.map { "\($0) = s.\($0)" }.joined(separator: ", "))
      when not matched
      then insert (\(columns.joined(separator: ", "))) values (\(list(columns, "s")))
      """
  }

  private func rows(_ sql: String) -> [String] {
    let answer = PQexec(handle, sql)
    defer { PQclear(answer) }
    return (0..<PQntuples(answer)).map { String(cString: PQgetvalue(answer, $0, 0)) }
  }

  /// Keeps the rows of `quote` as the bytes a binary COPY takes.
  func keepSweep() throws {
    run("copy (select * from quote order by instrument_id) to stdout (format binary)")
    var bytes: [UInt8] = []
    var piece: UnsafeMutablePointer<CChar>?
    while case let count = PQgetCopyData(handle, &piece, 0), count > 0 {
      bytes += UnsafeRawBufferPointer(start: piece, count: Int(count))
      PQfreemem(piece)
    }
    while let rest = PQgetResult(handle) { PQclear(rest) }
    sweeps.append(bytes)
  }

  func write(_ index: Int) {
    run("begin")
    run("copy stage from stdin (format binary)")
    sweeps[index].withUnsafeBytes { bytes in
      _ = PQputCopyData(
        handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
    }
    _ = PQputCopyEnd(handle, nil)
    while let rest = PQgetResult(handle) { PQclear(rest) }
    run("execute bare_merge")
    run("commit")
  }
}

/// Waits for an asynchronous call from a thread that may block: the bench's main thread.
private func blocking<Answer: Sendable>(
  _ work: @escaping @Sendable () async throws -> Answer
) throws -> Answer {
  let slot = Slot<Answer>()
  var ends: [Int32] = [0, 0]
  precondition(pipe(&ends) == 0)
  let done = ends[1]
  Task {
    do { slot.result = .success(try await work()) } catch { slot.result = .failure(error) }
    close(done)
  }
  var byte: UInt8 = 0
  _ = read(ends[0], &byte, 1)
  close(ends[0])
  guard let result = slot.result else { preconditionFailure("closed before the answer") }
  return try result.get()
}

// `@unchecked Sendable`: written before the pipe is closed, read after that was seen.
private final class Slot<Answer>: @unchecked Sendable {
  var result: Result<Answer, any Error>?
}
