/// What streams need of the rest of the gateway.

import AppStore
import NIOCore
import Platform

/// Who wants to read, as it was presented.
package enum StreamCredential: Sendable, Hashable {
  case token(String)
  case ticket(String)
}

/// From where: what limits by address need to know.
package struct StreamPeer: Sendable, Hashable {
  /// Numeric address of the connection's other end; nil on a Unix socket.
  package var address: String?
  /// `X-Forwarded-For` of the request that opened the stream, all of them joined by commas.
  package var forwardedFor: String?
}

/// What a credential permits: the market, or what is its user's, or both.
package struct StreamGrant: Sendable, Equatable {
  /// Connections of one identity are counted together.
  package let identity: String
  /// From whose bucket subscriptions take their cost.
  package let client: AccessKey
  package let mayReadMarket: Bool
  /// Whose notifications may be read; nil: nobody's.
  package var userID: Int64?
}

extension ChannelsRequest {
  /// What a grant lacks for it; nil: nothing.
  func scope(lackedBy grant: StreamGrant) -> TokenScope? {
    let areOfUser = channels.map { UserChannel(rawValue: $0.name) != nil }
    if !grant.mayReadMarket, areOfUser.contains(false) { return .market }
    return grant.userID == nil && areOfUser.contains(true) ? .account : nil
  }
}

/// What streams read. But for `outbox` it is called on event loops and must return at once.
package protocol StreamSource: Sendable {
  /// The newest published state. What it holds must be in `updates` already.
  var current: MarketState { get }
  /// Commits behind a seq, oldest first; nil if some of them are no longer kept.
  func updates(after seq: Int64) -> [FeedUpdate]?
  /// Whether `updates` goes back as far as it ever will.
  var hasLog: Bool { get }
  /// Finds a series by any spelling of its symbol, as of now.
  var resolver: (_ symbol: String) -> SeriesPlace? { get }
  /// A part of the user's outbox, behind a number; without one only how far it goes. nil: the
  /// database cannot be read.
  func outbox(of userID: Int64, after number: Int64?) async -> OutboxPage?
}

/// Who may open streams. Called on event loops: nothing waits.
package protocol StreamAccess: Sendable {
  /// With whom streams without a credential are counted; nil: they are not.
  func identity(of peer: StreamPeer) -> Result<String?, Problem>
  func grant(
    for credential: StreamCredential, from peer: StreamPeer
  ) -> Result<StreamGrant, Problem>
  /// Whether what was granted holds still.
  func isInForce(_ grant: StreamGrant) -> Bool
  /// Of a stream without a token.
  func client(at peer: StreamPeer) -> AccessKey
  /// Takes a subscription's cost from its client's bucket.
  /// - Returns: whether it was in there.
  func pay(_ cost: Int, by client: AccessKey) -> Bool
  /// Counts bytes that are sent without a token.
  /// - Returns: for how many milliseconds nothing more may be sent.
  func draw(_ bytes: Int, by client: AccessKey) -> Int64
}

package struct StreamServices: Sendable {
  let source: any StreamSource
  let access: any StreamAccess
  /// Whether prices are for all who connect.
  let isAnonymousAllowed: Bool
  /// For each token.
  var connectionsMax = StreamLimits.connectionsMax
  /// Which pages may open a stream, at which hosts.
  let originRule: OriginRule
  /// Streams in the messages of other makers' APIs.
  var doors: [StreamDoor] = []
  /// Of requests for streams, too.
  var counters = RequestCounters()
  let connections = StreamConnections()
  /// Whose outboxes streams follow, over all event loops.
  let users = Locked(Counts<Int64>())
  let portfolios = PortfolioBoard()
}

extension FollowerConnection {
  /// How a stream begins.
  struct Opening: Sendable {
    let framing: StreamFraming
    let peer: StreamPeer
    /// Who pays without a token.
    let client: AccessKey
    /// Bytes before the first message.
    var preamble = ByteBuffer()
    var credential: StreamCredential?
    var isAnonymousAllowed: Bool
    /// Already counted: a token's, or the address's.
    var identity: String?
    /// Of the token that the request carried.
    var grant: StreamGrant?
    /// As if the client had sent it.
    var request: ChannelsRequest?
  }
}
