import Market
import Postgres

/// Some of the tables, and how a commit's rows get into them over the connection of its session.
protocol TableGroup {
  var session: WriterSession { get }
}

extension TableGroup {
  var connection: PostgresConnection { session.connection }

  func id(of symbol: Symbol, source: Source) -> Int32 {
    session.id(of: symbol, source: source)
  }

  @discardableResult
  func run(
    _ statement: Statement, with parameters: borrowing WireParameters,
    step: String = CommitStep.commit
  ) throws(StoreError) -> PostgresResult {
    try connection.run(statement, with: parameters, context: step)
  }

  /// Rows of a table with a descriptor, which names the counter.
  func write<Row>(
    _ rows: [Row], to table: RowTable<Row>, in context: inout CommitContext
  ) throws(StoreError) {
    try session.write(rows, in: &context, rowDescription: table.rowDescription) {
      (rows, context) throws(StoreError) in
      let parameters = table.parameters(table.distinct(rows), stamp: context.knownAt)
      context.receipt[keyPath: table.counter] += try run(table.statement, with: parameters)
        .affectedRows
    }
  }
}
