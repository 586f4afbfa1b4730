/// Which class of error a SQLSTATE is.

import Market

extension StoreError {
  /// PostgreSQL's errcodes table.
  package static let lockNotAvailable = "55P03"
  static let insufficientPrivilege = "42501"
  private static let readOnly = "25006"

  /// The server, or the transaction, takes no writes: a standby says so.
  package var isReadOnly: Bool { sqlState == Self.readOnly }

  /// What a write would be answered with.
  package static func turnedReadOnly(context: String) -> StoreError {
    StoreError(
      .connectionLost, message: "the server takes no writes any more", sqlState: readOnly,
      context: context)
  }

  /// What to do about a SQLSTATE (PostgreSQL's errcodes table): `transient` passes by itself,
  /// `operatorNeeded` waits for a hand, `rowRefused` is about data; whatever is not named here is
  /// `refused`, and tried again as well.
  package static func code(forSQLState state: String?) -> Code {
    guard let state, state.utf8.count == 5 else { return .connectionLost }
    if let code = states[state] { return code }
    return classes[String(state.prefix(2))] ?? .refused
  }

  private static let classes: [String: Code] = [
    "08": .connectionLost,
    "57": .connectionLost,  // shutdown, crash, starting up
    "22": .rowRefused,  // a value that is out of range, or no text
    "23": .rowRefused,  // a constraint
    "25": .transient,
    "40": .transient,  // serialisation, deadlock
    "53": .transient,  // disk full, memory, connections
    "54": .transient,  // too complex; the notification queue is full
    "55": .transient,  // locked, in use
    "58": .transient,  // the server's own input and output
    "XX": .transient,
    "0A": .operatorNeeded,
    "0L": .operatorNeeded,
    "0P": .operatorNeeded,
    "28": .operatorNeeded,  // who we are
    "3D": .operatorNeeded,  // no such database
    "3F": .operatorNeeded,  // no such schema
    "42": .operatorNeeded,  // missing rights, tables, columns
    "F0": .operatorNeeded,
  ]

  /// Where one differs from its class.
  private static let states: [String: Code] = [
    // A standby, or made so under its sessions: another host of the address may take writes.
    readOnly: .connectionLost,
    "25P03": .connectionLost,  // idle_in_transaction_session_timeout
    "57014": .transient,  // statement_timeout
    "XX001": .operatorNeeded,  // damaged data
    "XX002": .operatorNeeded,  // damaged index
  ]
}
