import Market
import Postgres

/// What must hold of the ledger's rows, each as a query for rows that break it. The schema refuses
/// some of this when it is written; the audit finds what got in by another way: a restored backup,
/// a hand of the owner, a fault of ours. What the schema checks of each row for as long as it is
/// there, and what entries and orders say of each other, which `LedgerReplay` derives again, is not
/// here.
package struct LedgerAudit {
  private let connection: AppConnection

  package init(_ connection: AppConnection) { self.connection = connection }

  /// The invariants that rows alone show, by their numbers in the contract.
  package enum Invariant: String, Sendable {
    case booked = "I2: a book is the sum of its entries"
    case daily = "I2: what an account had on a day is the sum of its entries until then"
    case position = "I4: a position is bought less sold, and corporate actions"
    case settled = "I6: no share is sold on the day it was bought"
    case cash = "I8: cash is paid in less paid out, bought, sold, fees and income"
    case answered = "I10: a key is one command with one outcome"
    case sequence = "postings are numbered without a gap"
  }

  package struct Finding: Sendable, Hashable, CustomStringConvertible {
    package var invariant: Invariant
    package var row: String
    package var description: String { "\(invariant.rawValue): \(row)" }
  }

  /// How many rows are shown of an invariant that is broken.
  package static let rowsMax = 5

  package func findings() throws(AppStoreError) -> [Finding] {
    var findings: [Finding] = []
    for (invariant, statement) in Self.statements {
      let rows = try connection.read(statement, context: "ledger audit") {
        (row) throws(StoreError) in try row.text()
      }
      findings += rows.map { Finding(invariant: invariant, row: $0) }
    }
    return findings
  }
}
