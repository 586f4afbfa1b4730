import Commits
import Market
import Postgres

/// What becomes of instruments over time: links between codes, codes that another instrument gets,
/// and the names each had.
extension ReferenceTable {
  private static let linkInstruments = Statement(
    name: "link_instruments",
    sql: """
      select count(*)
      from (
        select r.*
        from unnest(
            $1::text[], $2::text[], $3::date[], $4::text[], $5::text[], $6::numeric[],
            $7::numeric[], $8::text[])
          with ordinality r (old, new, day, kind, verdict, ratio, cash, source, place)
        order by r.place
      ) l
      where link_instruments(
        l.old, l.new, l.day, l.kind, l.verdict, l.ratio, l.cash, l.source, $9::timestamptz)
      """)

  func link(_ links: [InstrumentLink], in context: inout CommitContext) throws(StoreError) {
    let parameters = WireParameters(
      .array(links, type: .text) { $0.text($1.from.description) },
      .array(links, type: .text) { $0.text($1.to.description) },
      .array(links, type: .date) { $0.date($1.day) },
      .array(links, type: .text) { $0.text($1.kind.rawValue) },
      .array(links, type: .text) { $0.text($1.verdict.rawValue) },
      .array(links, type: .numeric) { $0.optionalNumeric($1.ratio) },
      .array(links, type: .numeric) { $0.optionalNumeric($1.cash) },
      .array(links, type: .text) { $0.text($1.source) },
      .timestamp(context.knownAt))
    var row = try run(Self.linkInstruments, with: parameters).row(0)
    context.receipt.reference += Int(try row.int64())
  }

  private static let readLinks = Statement(
    name: "read_links",
    sql: """
      select o.symbol, n.symbol, l.day, l.kind, l.verdict, l.ratio, l.cash, l.source,
        l.known_to is null and o.reused_on is null and n.reused_on is null
      from instrument_link l
      join instrument o on o.id = l.from_id
      join instrument n on n.id = l.to_id
      where o.source = 1
      order by l.known_from, o.symbol, n.symbol
      """)

  func storedLinks() throws(StoreError) -> [StoredLink] {
    try connection.read(Self.readLinks, context: "load") { (row) throws(StoreError) in
      StoredLink(link: try row.instrumentLink(), stands: try row.bool())
    }
  }

  private static let endInstruments = Statement(
    name: "end_instruments",
    sql: """
      update instrument i
      set reused_on = $2::date
      where i.symbol = any ($1::text[])
        and i.source = $3::smallint
        and i.reused_on is null
      """)

  /// The codes are others' from now on: their next rows register other instruments.
  func end(_ codes: [Symbol], in context: inout CommitContext) throws(StoreError) {
    if codes.isEmpty { return }
    let parameters = WireParameters(
      .texts(codes.map(\.description)), .day(context.knownAt.shanghaiDay),
      .int16(Source.live.rawValue))
    context.receipt.reference += try run(Self.endInstruments, with: parameters).affectedRows
    for code in codes {
      session.registry.forget(InstrumentRegistry.Series(code, source: .live))
    }
  }

  private static let nameInstruments = Statement(
    name: "name_instruments",
    sql: """
      insert into instrument_name (instrument_id, from_day, name, marks)
      select r.id, $1::date, r.name, string_to_array(r.marks, ' ')
      from unnest($2::int[], $3::text[], $4::text[]) r (id, name, marks)
      on conflict (instrument_id, from_day) do update
      set name = excluded.name, marks = excluded.marks
      """)

  func nameInstruments(
    _ entries: [InstrumentRegistry.Entry], in context: CommitContext
  ) throws(StoreError) {
    let named = entries.filter { $0.row.name != nil }
    if named.isEmpty { return }
    let parameters = WireParameters(
      .day(context.knownAt.shanghaiDay),
      .int32s(named.map(\.id)),
      .array(named, type: .text) { $0.optionalText($1.row.name) },
      .array(named, type: .text) {
        $0.text(NameMarks.parse($1.row.name ?? "").words.joined(separator: " "))
      })
    try run(Self.nameInstruments, with: parameters, step: CommitStep.instruments)
  }
}

extension InstrumentLink {
  var rowDescription: RefusedRow.RowDescription {
    RefusedRow.RowDescription(
      "link", of: self, from: .init(source: .live, symbol: "\(from)", day: day))
  }
}
