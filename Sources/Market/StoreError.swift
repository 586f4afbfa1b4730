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
  package static let connecting = "connect"
}

extension StoreError: CustomStringConvertible {
  public var description: String {
    let state = sqlState.map { " [\($0)]" } ?? ""
    return "\(context): \(message)\(state)"
  }
}
