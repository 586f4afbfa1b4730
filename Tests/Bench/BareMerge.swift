/// PostgreSQL without candled: a table of the shape of `quote`, filled by libpq with COPY into a
/// temporary table and a MERGE that compares nothing.

import CPostgres

final class BareMerge {
  private let connection: OpaquePointer

  private static let setup = """
    set search_path = candled, public;
    create table bare_quote (like quote including all) with (fillfactor = 50);
    insert into bare_quote select * from quote;
    create temporary table bare_stage on commit delete rows as table quote with no data;
    """

  /// Connects and makes the tables.
  init(url: String) throws {
    guard let connection = PQconnectdb(url), PQstatus(connection) == CONNECTION_OK else {
      throw BenchFailure(description: "libpq cannot connect")
    }
    self.connection = connection
    try run(Self.setup)
    try run("prepare bare_merge as " + mergeStatement())
  }

  deinit { PQfinish(connection) }

  private func mergeStatement() throws -> String {
    let answer = PQexec(
      connection,
      """
      select string_agg(attname, ',' order by attnum),
        string_agg('s.' || attname, ',' order by attnum),
        string_agg(attname || '=s.' || attname, ',' order by attnum)
          filter (where attname <> 'instrument_id')
      from pg_attribute
      where attrelid = 'quote'::regclass and attnum > 0 and not attisdropped
      """)
    defer { PQclear(answer) }
    guard PQresultStatus(answer) == PGRES_TUPLES_OK else { throw failure() }
    let parts = (0..<3).map { String(cString: PQgetvalue(answer, 0, $0)) }
    return """
      merge into bare_quote q using bare_stage s on q.instrument_id = s.instrument_id
      when matched then update set \(parts[2])
      when not matched then insert (\(parts[0])) values (\(parts[1]))
      """
  }

  /// What candled stored last, in the format of binary COPY; not part of what is timed.
  func encodedRows() throws -> [UInt8] {
    let answer = PQexec(connection, "copy quote to stdout (format binary)")
    defer { PQclear(answer) }
    guard PQresultStatus(answer) == PGRES_COPY_OUT else { throw failure() }
    var rows: [UInt8] = []
    while true {
      var piece: UnsafeMutablePointer<CChar>?
      let count = PQgetCopyData(connection, &piece, 0)
      guard count > 0, let piece else { break }
      rows += UnsafeRawBufferPointer(start: piece, count: Int(count))
      PQfreemem(piece)
    }
    while let rest = PQgetResult(connection) { PQclear(rest) }
    return rows
  }

  /// One transaction with all rows.
  /// - Returns: how many milliseconds it took.
  func store(_ rows: [UInt8]) throws -> Double {
    let start = milliseconds()
    try run("begin")
    try copy(rows)
    try run("execute bare_merge")
    try run("commit")
    return milliseconds() - start
  }

  private func copy(_ rows: [UInt8]) throws {
    try run("copy bare_stage from stdin (format binary)", expecting: PGRES_COPY_IN)
    let sent = rows.withUnsafeBytes { bytes in
      PQputCopyData(
        connection, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
    }
    guard sent == 1, PQputCopyEnd(connection, nil) == 1 else { throw failure() }
    while let answer = PQgetResult(connection) {
      defer { PQclear(answer) }
      if PQresultStatus(answer) != PGRES_COMMAND_OK { throw failure() }
    }
  }

  private func run(_ sql: String, expecting status: ExecStatusType = PGRES_COMMAND_OK) throws {
    let answer = PQexec(connection, sql)
    defer { PQclear(answer) }
    guard PQresultStatus(answer) == status else { throw failure() }
  }

  private func failure() -> BenchFailure {
    BenchFailure(description: String(cString: PQerrorMessage(connection)))
  }
}
