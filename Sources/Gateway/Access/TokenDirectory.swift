import AppStore
import Market
import Platform

/// The digests of all tokens in force, in memory: a request is judged without the database, and so
/// also while that is unreachable. Whoever follows the database replaces them as a whole.
///
/// A digest is looked up by hash and compared in constant time; the secret itself is hashed first,
/// so that time says nothing of it.
package final class TokenDirectory: Sendable {
  private struct State: Sendable {
    var tokens: [TokenDigest: Token] = [:]
    var ids: [Int64: Token] = [:]
    var used: Set<Int64> = []
    var isLoaded = false
  }

  private let state = Locked(State())
  private let now: @Sendable () -> Timestamp

  /// - Parameter now: the time of day, for what expires.
  package init(now: @escaping @Sendable () -> Timestamp = { .now }) { self.now = now }

  /// From now on these are in force and no others.
  package func replace(with tokens: [TokenDigest: Token]) {
    let ids = Dictionary(tokens.values.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    state.withLock { state in
      state.tokens = tokens
      state.ids = ids
      state.isLoaded = true
    }
  }

  /// Whether tokens were ever read: before that no request with one can be judged.
  package var isLoaded: Bool { state.withLock { $0.isLoaded } }

  /// Whose secret it is, and notes its use; nil if it is not in force.
  package func identity(of secret: some StringProtocol) -> Principal.Identity? {
    guard let digest = TokenSecret(secret)?.digest else { return nil }
    let now = now()
    return state.withLock { state in
      guard let token = state.tokens[digest], token.isInForce(at: now) else { return nil }
      state.used.insert(token.id)
      return Principal.Identity(token)
    }
  }

  /// Of a token that was let in before; nil if it is not in force any more.
  package func identity(ofToken id: Int64) -> Principal.Identity? {
    let now = now()
    return state.withLock { state in
      state.ids[id].flatMap { $0.isInForce(at: now) ? Principal.Identity($0) : nil }
    }
  }

  /// Those used since the last call, to be written to the database.
  package func takeUsed() -> Set<Int64> {
    state.withLock { state in
      defer { state.used = [] }
      return state.used
    }
  }

  /// Those that could not be written: for another attempt.
  package func keepUsed(_ ids: Set<Int64>) { state.withLock { $0.used.formUnion(ids) } }
}

extension Token {
  fileprivate func isInForce(at now: Timestamp) -> Bool {
    revokedAt == nil && expiresAt.map { now.microseconds < $0.microseconds } ?? true
  }
}

extension Principal.Identity {
  fileprivate init(_ token: Token) {
    self.init(tokenID: token.id, userID: token.userID, scopes: token.scopes)
  }
}
