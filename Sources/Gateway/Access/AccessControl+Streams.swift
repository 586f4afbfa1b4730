import AppStore
import HTTPTypes

/// Streams are judged as requests are.
extension AccessControl: StreamAccess {
  /// A stream without a token counts as a request of its address.
  package func identity(of peer: StreamPeer) -> Result<String?, Problem> {
    let verdict = admit(AccessRequest(of: peer))
    guard case .admitted = verdict.outcome else { return .failure(.tooManyStreams) }
    return .success(options.addressRequests == 0 ? nil : "address \(verdict.address.bytes)")
  }

  /// A stream counts as a request, and a credential that is refused costs as one does.
  package func grant(
    for credential: StreamCredential, from peer: StreamPeer
  ) -> Result<StreamGrant, Problem> {
    var request = AccessRequest(of: peer)
    switch credential {
    case .token(let secret): request.authorization = "Bearer \(secret)"
    case .ticket(let ticket): request.ticket = ticket
    }
    let verdict = admit(request)
    switch verdict.outcome {
    case .admitted(.token(let identity)):
      return .success(StreamGrant(identity, anonymous: options.anonymous))
    case .refused(let problem):
      finished(verdict, status: problem.status.code)
      return .failure(problem)
    case .admitted, .preflight:
      finished(verdict, status: HTTPResponse.Status.unauthorized.code)
      return .failure(.unauthenticated)
    }
  }

  package func client(at peer: StreamPeer) -> AccessKey {
    let address = ClientAddress(
      peer: peer.address, forwardedFor: peer.forwardedFor, trusting: options.trustedProxies)
    return .address(address.bytes)
  }

  /// A full bucket would never be there: the stream itself has taken of it.
  package func pay(_ cost: Int, by client: AccessKey) -> Bool {
    let rate = if case .user = client { options.userRequests } else { options.addressRequests }
    let most = max(rate * RateLimiter<AccessKey>.burstSeconds / 2, 1)
    return cost == 0 || take(min(cost, most), from: client).problem == nil
  }

  package func isInForce(_ grant: StreamGrant) -> Bool {
    guard let id = Int64(grant.identity) else { return true }
    guard let identity = directory.identity(ofToken: id) else { return false }
    return StreamGrant(identity, anonymous: options.anonymous) == grant
  }
}

extension StreamGrant {
  /// - Parameter anonymous: `gateway.anonymous`.
  fileprivate init(_ identity: Principal.Identity, anonymous: Bool) {
    self.init(
      identity: String(identity.tokenID), client: .user(identity.userID),
      mayReadMarket: anonymous || identity.scopes.contains(.market),
      userID: identity.scopes.contains(.account) ? identity.userID : nil)
  }
}

extension AccessRequest {
  fileprivate init(of peer: StreamPeer) {
    self.init(target: "/ws", peer: peer.address)
    forwardedFor = peer.forwardedFor
  }
}
