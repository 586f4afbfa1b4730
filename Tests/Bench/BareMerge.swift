/// A table of the shape of `quote`, filled by libpq with COPY into a temporary table and a MERGE
/// that compares nothing.

final class BareMerge {
  private let connection: BareConnection
  let account: ProcessAccount

  private static let setup = """
    create table bare_quote (like quote including all) with (fillfactor = 50);
    insert into bare_quote select * from quote;
    create temporary table bare_stage on commit delete rows as table quote with no data;
    """

  /// Connects and makes the tables.
  init(url: String) throws {
    connection = try BareConnection(url: url)
    account = ProcessAccount(pid: try connection.firstRow("select pg_backend_pid()")[0])
    try connection.run(Self.setup)
    try connection.run("prepare bare_merge as " + mergeStatement())
  }

  private func mergeStatement() throws -> String {
    let parts = try connection.firstRow(
      """
      select string_agg(attname, ',' order by attnum),
        string_agg('s.' || attname, ',' order by attnum),
        string_agg(attname || '=s.' || attname, ',' order by attnum)
          filter (where attname <> 'instrument_id')
      from pg_attribute
      where attrelid = 'quote'::regclass and attnum > 0 and not attisdropped
      """)
    return """
      merge into bare_quote q using bare_stage s on q.instrument_id = s.instrument_id
      when matched then update set \(parts[2])
      when not matched then insert (\(parts[0])) values (\(parts[1]))
      """
  }

  /// What candled stored last, in the format of binary COPY; not part of what is timed.
  func encodedRows() throws -> [UInt8] { try connection.rows(of: "quote") }

  /// One transaction with all rows.
  func store(_ rows: [UInt8]) throws {
    try connection.run("begin")
    try connection.copy(rows, into: "bare_stage")
    try connection.run("execute bare_merge")
    try connection.run("commit")
  }
}
