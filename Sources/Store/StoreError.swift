/// What can go wrong between candled and its database, in classes a caller can act on. Never holds
/// a connection string, a password or a row's contents.
public struct StoreError: Error, Sendable, Equatable {
  public enum Code: String, Sendable, CaseIterable {
    /// The server is not there, or went away; reconnect and try again.
    case connectionLost = "connection_lost"
    /// The server refused for a reason that passes: deadlock, shutdown, out of connections.
    case transient
    /// The server refused for good: a constraint, a missing right, a missing table.
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

  public init(_ code: Code, _ message: String, sqlState: String? = nil, context: String) {
    self.code = code
    self.message = message
    self.sqlState = sqlState
    self.context = context
  }

  /// Whether the same call can succeed later without anything being repaired by hand.
  public var isTransient: Bool { code == .connectionLost || code == .transient }

  /// Classes of SQLSTATE (PostgreSQL's errcodes table) that pass by themselves: 08 connection,
  /// 40 rollback (serialisation, deadlock), 53 resources, 55 not in the right state, 57 operator
  /// intervention, 58 system error.
  static func code(forSQLState state: String?) -> Code {
    guard let state, state.utf8.count == 5 else { return .connectionLost }
    switch state.prefix(2) {
    case "08": return .connectionLost
    case "57" where state != "57014": return .connectionLost
    case "40", "53", "55", "57", "58": return .transient
    default: return .refused
    }
  }
}

extension StoreError: CustomStringConvertible {
  public var description: String {
    let state = sqlState.map { " [\($0)]" } ?? ""
    return "\(context): \(message)\(state)"
  }
}
