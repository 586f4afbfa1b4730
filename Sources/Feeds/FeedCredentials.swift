/// What a source wants to see before it answers. It prints as nothing, reflects as nothing, and
/// leaves this type only into an `Endpoint`, which shows none of it either.

package enum FeedCredentials: Sendable, Hashable {
  /// Mairui's, the last part of every path.
  case licence(String)
  /// Alpaca's, two headers.
  case keyPair(id: String, secret: String)
}

extension FeedCredentials: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  package var description: String { "<credentials>" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension FeedCredentials? {
  /// - Precondition: it is a licence. Who asks a source brings that source's credentials.
  var licence: String {
    guard case .licence(let licence) = self, !licence.isEmpty else {
      preconditionFailure("Mairui is asked with a licence")
    }
    return licence
  }

  /// - Precondition: it is a pair of keys.
  var keyHeaders: [Endpoint.Header] {
    guard case .keyPair(let id, let secret) = self else {
      preconditionFailure("Alpaca is asked with a pair of keys")
    }
    return [
      Endpoint.Header(name: "APCA-API-KEY-ID", value: id),
      Endpoint.Header(name: "APCA-API-SECRET-KEY", value: secret),
    ]
  }
}
