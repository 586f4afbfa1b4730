import Commits
import Foundation
import TestSupport
import Testing

@testable import Store

/// docs/reference/views.md, held to the comments that `\d+` shows. A failure prints the reference
/// to paste.
@Suite struct ViewPageTests {
  @Test func `the page of views has every view and function of the contract`() throws {
    let reference = try Self.reference(try StoreDatabase())
    let page = try String(
      contentsOf: Self.root.appending(path: "docs/reference/views.md"), encoding: .utf8)
    #expect(page.hasSuffix("\n\n" + reference), "\(reference)")
  }

  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static let functions = [
    "candles", "market_candles", "market_at", "movers", "why", "instrument_id", "flag_names",
    "changes", "feed_position",
  ]

  private static func reference(_ database: StoreDatabase) throws -> String {
    let views = try sections(database, kind: "v")
    let types = try sections(database, kind: "c")
    return views + "## Functions\n\n" + (try functionTexts(database)) + types.dropLast(1)
  }

  /// Relations with the same columns share a section.
  private static func sections(_ database: StoreDatabase, kind: String) throws -> String {
    let rows = try database.execute(
      """
      select r.relname,
        coalesce(obj_description(r.oid, 'pg_class'), obj_description(r.reltype, 'pg_type')),
        string_agg(
        format(
          '| `%s` | %s | %s |', a.attname,
          \(shortType("format_type(a.atttypid, a.atttypmod)")),
          col_description(r.oid, a.attnum)),
        e'\\n' order by a.attnum)
      from pg_class r
      join pg_attribute a on a.attrelid = r.oid and a.attnum > 0
      where r.relnamespace = 'candled'::regnamespace
        and r.relkind = '\(kind)'
        and r.relname not like 'feed\\_%'
        and r.relname not in ('stored_candles', 'rolled_candles')
      group by r.oid, r.relname
      order by r.relname
      """)
    var groups: [(names: [String], comments: [String], columns: String)] = []
    for row in rows {
      let (name, comment, columns) = (row[0] ?? "", row[1] ?? "", row[2] ?? "")
      if let place = groups.firstIndex(where: { $0.columns == columns }) {
        groups[place].names.append(name)
        groups[place].comments.append(comment)
      } else {
        groups.append(([name], [comment], columns))
      }
    }
    return groups.map { group in
      let heading = group.names.map { "`\($0)`" }.joined(separator: ", ")
      let comments =
        group.names.count == 1
        ? group.comments[0] + "\n"
        : zip(group.names, group.comments).map { "- `\($0)`: \($1)\n" }.joined()
      return "## \(heading)\n\n\(comments)\n| column | type | meaning |\n|---|---|---|\n"
        + "\(group.columns)\n\n"
    }.joined()
  }

  private static func functionTexts(_ database: StoreDatabase) throws -> String {
    let rows = try database.execute(
      """
      select p.proname, \(shortType("pg_get_function_arguments(p.oid)")),
        \(shortType("pg_get_function_result(p.oid)")), obj_description(p.oid, 'pg_proc')
      from pg_proc p
      where p.pronamespace = 'candled'::regnamespace
        and p.proname = any ('{\(functions.joined(separator: ","))}')
      order by array_position('{\(functions.joined(separator: ","))}'::text[], p.proname::text), 2
      """)
    #expect(Set(rows.compactMap { $0[0] }) == Set(functions))
    return rows.map { row in
      let call = "\(row[0] ?? "")(\(row[1] ?? ""))\n  returns \(row[2] ?? "")"
      return "```sql\n\(call)\n```\n\n\(row[3] ?? "")\n\n"
    }.joined()
  }

  private static func shortType(_ expression: String) -> String {
    "replace(\(expression), 'timestamp with time zone', 'timestamptz')"
  }
}
