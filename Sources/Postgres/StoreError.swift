/// What can go wrong between candled and its database, in classes a caller can act on. Never holds
/// a connection string, a password or a row's contents.
public struct StoreError: Error, Sendable, Hashable {
  public enum Code: String, Sendable, CaseIterable {
    /// The server is not there, or went away; reconnect and try again.
    case connectionLost = "connection_lost"
    /// The server refused for a reason that passes: deadlock, disk full, out of connections.
    case transient
    /// Somebody must do something: a right, a role, a table, a password or trust is missing. It is
    /// tried again all the same, and heals without a restart.
    case operatorNeeded = "operator_needed"
    /// A value was refused: out of range, or against a constraint. The writer takes the row out.
    case rowRefused = "row_refused"
    /// The server refused for a reason nobody foresaw; tried again, nothing is dropped for it.
    case refused
    /// The stored journal position is not the one this writer left there: another one wrote.
    case positionConflict = "position_conflict"
    /// Another daemon leads now: nothing of this one's term may be written any more.
    case leaseLost = "lease_lost"
    /// The schema is missing, of another version, or altered.
    case schemaMismatch = "schema_mismatch"
    /// A value the server sent is not what the schema promises.
    case malformed
    /// The connection string cannot be understood.
    case badAddress = "bad_address"
  }

  public let code: Code
  /// One sentence for people.
  public let message: String
  /// Five characters, where the server gave them.
  public let sqlState: String?
  /// What was being done: `commit`, `load`, `connect`.
  public let context: String

  public init(_ code: Code, message: String, sqlState: String? = nil, context: String) {
    self.code = code
    self.message = message
    self.sqlState = sqlState
    self.context = context
  }

  /// Whether the same call can succeed later without anything being repaired by hand.
  public var isTransient: Bool {
    code == .connectionLost || code == .transient
      || (code == .operatorNeeded && context == Self.connecting)
  }

  /// The context of errors met while connecting. Who is refused there may be let in later.
  static let connecting = "connect"
}

// MARK: - Policy

extension StoreError {
  /// PostgreSQL's errcodes table.
  package static let lockNotAvailable = "55P03"

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
    "25006": .operatorNeeded,  // read-only: a standby, or made so
    "57014": .transient,  // statement_timeout
    "XX001": .operatorNeeded,  // damaged data
    "XX002": .operatorNeeded,  // damaged index
  ]
}

extension StoreError: CustomStringConvertible {
  public var description: String {
    let state = sqlState.map { " [\($0)]" } ?? ""
    return "\(context): \(message)\(state)"
  }
}
