/// The bounds of a stream, and where each number comes from.

package enum StreamLimits {
  /// Of a user's own things that a follower has not taken: what comes behind is read again later.
  static let outboxWaitingMax = 1_000
  static let outboxRetryMilliseconds: Int64 = 1_000
  /// What a client may send in one frame, and in one message of several frames.
  static let frameBytesMax = 16 << 10
  static let messageBytesMax = 64 << 10
  /// The same behind a door: clients there send frames of 32 KiB, and all symbols in one message;
  /// 5,000 in two channels are 90 kB.
  static let doorFrameBytesMax = 32 << 10
  static let doorMessageBytesMax = 128 << 10
  /// Of messages that wait for an authorization or for the database: one of the largest there is.
  static let waitingBytesMax = doorMessageBytesMax
  /// What one message to a client carries at most: some clients refuse more than 64 KiB. The rest
  /// of 64 KiB is for what surrounds the objects.
  static let objectBytesMax = 60 << 10
  /// Of a channel of the gateway's own, which has no name for all there is: the whole of China's
  /// and America's listed shares is more than one follower needs.
  static let symbolsMax = 6_000
  static let symbolBytesMax = 32
  static let channelsMax = 64
  /// Of a request's `id`, which is repeated in its answer.
  static let requestIDBytesMax = 64
  /// Alpaca and Binance allow half of it.
  static let messagesPerSecondMax: Int64 = 10
  static let authenticationMillisecondsMax: Int64 = 10_000
  static let heartbeatMilliseconds: Int64 = 15_000
  /// One that is due soon goes with another message: a write of its own costs as much as a sweep's.
  static let heartbeatEarlyMilliseconds: Int64 = 4_000
  /// A follower that took no byte for this long is closed.
  static let stallMillisecondsMax: Int64 = 30_000
  /// The same while more than `unsentBytesMax` waits in all.
  static let stallMillisecondsMin: Int64 = 5_000
  /// One that takes nothing has a message of 60 KiB on top of `highWaterBytes`: this is of 3,500.
  static let unsentBytesMax = 256 << 20
  static let stallCheckMilliseconds: Int64 = 1_000
  /// How long a closing handshake may last.
  static let closeMillisecondsMax: Int64 = 1_000
  static let everySecondsMax: Int64 = 3_600
  /// How often deadlines are looked at.
  static let tickMilliseconds: Int64 = 100
  /// Above this a follower gets no more; it is also what one write carries.
  static let highWaterBytes = 16 << 10
  static let lowWaterBytes = 8 << 10
  /// The kernel's share of what waits for a follower. Without it the kernel keeps megabytes of old
  /// prices for whoever does not read.
  static let sendBufferBytes = 32 << 10
  /// Commits with log messages that a loop keeps in order of place; older ones are read from the
  /// ring.
  static let pagesMax = 32
  /// For each token.
  package static let connectionsMax = 10
  /// For each address, of streams without a token: an office behind one address.
  static let connectionsOfAddressMax = 100
  /// How often a token is looked up again: a revoked one loses its streams within a second, of
  /// which the directory of tokens takes a part.
  static let grantCheckTicks = 5
}
