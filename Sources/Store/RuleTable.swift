import Market
import Postgres

/// The rules as rows, so that a reader can ask which one held when, and was known when. Written as
/// the daemon's term begins and after a reload that changed them; an equal row is left alone.
enum RuleTable {
  private static let columns = [
    "market", "board", "kind", "key", "value", "from_day", "to_day", "source", "is_operators",
  ]

  private static let isGiven =
    "(" + columns.map { "r.\($0)" }.joined(separator: ", ") + ") = ("
    + columns.map { "g.\($0)" }.joined(separator: ", ") + ")"

  private static let replace = Statement(
    name: "replace_rules",
    sql: """
      with given as (
        select
          g.market, g.board, g.kind, g.key, g.value,
          coalesce(nullif(g.from_day, '')::date, '-infinity') as from_day,
          coalesce(nullif(g.to_day, '')::date, 'infinity') as to_day,
          g.source, g.is_operators::boolean as is_operators
        from unnest(
          $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
          $8::text[], $9::text[]) g (\(columns.joined(separator: ", ")))
      ), ended as (
        update candled.rule r
        set known_to = greatest(now(), r.known_from)
        where r.known_to is null
          and not exists (select from given g where \(isGiven))
      )
      insert into candled.rule (\(columns.joined(separator: ", ")))
      select g.*
      from given g
      where not exists (
        select from candled.rule r where r.known_to is null and \(isGiven))
      """)

  /// A market whose hours never change is spared the look into the table.
  private static let noteChanges = Statement(
    name: "note_changed_hours",
    sql: """
      update candled.market m
      set hours_change = c.hours_change
      from (
        select
          m.code,
          nullif(
            exists (
              select
              from candled.rule r
              where r.market = m.name
                and r.key in ('hours', 'closing_auction')
                and r.board = ''
                and r.kind = ''
                and r.known_to is null
                and (r.is_operators or isfinite(r.from_day) or isfinite(r.to_day))),
            false) as hours_change
        from candled.market m
      ) c
      where c.code = m.code
        and m.hours_change is distinct from c.hours_change
      """)

  /// - Throws: `connectionLost`, `operatorNeeded`.
  static func write(_ rules: [Rule], over connection: PostgresConnection) throws(StoreError) {
    func texts(_ text: @escaping (Rule) -> String) -> WireParameter {
      .array(rules, type: .text) { $0.text(text($1)) }
    }
    let parameters = WireParameters(
      texts(\.market), texts(\.board), texts(\.kind), texts(\.key), texts(\.value),
      texts { $0.fromDay?.description ?? "" }, texts { $0.toDay?.description ?? "" },
      texts(\.source), texts { String($0.isOperators) })
    try connection.run(replace, with: parameters, context: "rules")
    try connection.run(noteChanges, context: "rules")
  }
}

extension StoreWriter {
  /// Lets the table `rule` have these.
  /// - Throws: `connectionLost`, `operatorNeeded`.
  package func record(_ book: RuleBook) throws(StoreError) {
    try RuleTable.write(book.rules, over: session.opened().connection)
    rules = book
  }
}
