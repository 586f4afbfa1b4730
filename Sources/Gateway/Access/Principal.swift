import AppStore

/// Who makes a request: a token, or nobody that is known.
package enum Principal: Sendable, Hashable {
  case anonymous
  case token(Identity)

  package struct Identity: Sendable, Hashable {
    package let tokenID: Int64
    package let userID: Int64
    package let scopes: Set<TokenScope>
  }

  /// - Throws: 401 without a token.
  package func requireIdentity() throws(Problem) -> Identity {
    guard case .token(let identity) = self else { throw .unauthenticated }
    return identity
  }

  /// The user whose rows may be read and written.
  /// - Throws: 401 without a token, 403 without the scope.
  package func identity(with scope: TokenScope) throws(Problem) -> Identity {
    let identity = try requireIdentity()
    guard identity.scopes.contains(scope) else { throw .forbidden(scope) }
    return identity
  }
}
