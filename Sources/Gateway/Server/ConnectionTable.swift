/// The connections of a server, so that no client takes the places of the others or fills memory
/// with answers that it does not read. Where a client has too many, or all have, the oldest idle
/// one makes room: a newcomer is refused only where none is idle.

import AppStore
import Glibc
import HTTPTypes
import NIOCore
import Operations
import Platform

package struct ConnectionLimits: Sendable {
  /// `gateway.connections_max`.
  package var connectionsMax: Int
  /// Of an address, without a token: an office whose browsers open six each. None where requests
  /// of an address are not limited either.
  package var connectionsOfAddressMax = 1_000
  /// Of a user, without streams: the pool of an app's server; at 50 requests a second each
  /// has two seconds for one.
  package var connectionsOfUserMax = 100
  /// Answers of a client that the kernel has not taken: seven of the largest list there is.
  package var unsentBytesOfClientMax = 16 << 20
  /// Of all clients together; a gateway takes 100 MB without.
  package var unsentBytesMax = 64 << 20
  /// Smaller answers are not counted: the kernel takes them.
  package static let unsentBytesMin = HTTPPipeline.sendBufferBytes

  func connections(of client: AccessKey) -> Int {
    switch client {
    case .address: connectionsOfAddressMax
    case .user: connectionsOfUserMax
    }
  }
}

package final class ConnectionTable: Sendable {
  /// Why connections were closed and answers refused; raw values are those of the metric.
  package enum Limit: String, CaseIterable, Sendable {
    /// Closed, or not taken, for `connections_max` or the client's own number.
    case connections
    /// No whole head in time.
    case head
    /// One exchange took too long.
    case exchange
    /// No byte of an answer was taken for too long.
    case stalled
    /// An answer was refused for those that wait unread.
    case unread
  }

  struct Figures: Sendable {
    var connections = 0
    var unsentBytes = 0
    var reached: [Limit: Int64] = [:]
  }

  private struct State: Sendable {
    var book: ConnectionBook<ObjectIdentifier>
    var channels: [ObjectIdentifier: any Channel] = [:]
    var reached: [Limit: Int64] = [:]

    mutating func remove(_ ids: [ObjectIdentifier]) -> [any Channel] {
      reached[.connections, default: 0] += Int64(ids.count)
      return ids.compactMap { channels.removeValue(forKey: $0) }
    }
  }

  private let state: Locked<State>
  private let trustedProxies: [AddressRange]

  package init(_ limits: ConnectionLimits, trusting proxies: [AddressRange] = []) {
    state = Locked(State(book: ConnectionBook(limits)))
    trustedProxies = proxies
  }

  var figures: Figures {
    state.withLock {
      Figures(
        connections: $0.book.count, unsentBytes: $0.book.unsentBytes, reached: $0.reached)
    }
  }

  func note(_ limit: Limit) { state.withLock { $0.reached[limit, default: 0] += 1 } }

  /// It may be closed at once, and others for it.
  func opened(_ channel: any Channel) {
    let id = ObjectIdentifier(channel)
    let peer = channel.remoteAddress?.ipAddress
    let isProxy = peer == nil || trustedProxies.contains { $0.contains(peer) }
    let address = ClientAddress(peer: peer, forwardedFor: nil, trusting: [])
    let closing = state.withLock { state -> [any Channel] in
      state.channels[id] = channel
      let ids = state.book.open(id, client: isProxy ? nil : .address(address.bytes))
      return state.remove(ids)
    }
    for one in closing { one.close(promise: nil) }
    channel.closeFuture.whenComplete { [self] _ in
      state.withLock { state in
        state.book.close(id)
        state.channels[id] = nil
      }
    }
  }

  func began(_ id: ObjectIdentifier) { state.withLock { $0.book.begin(id) } }

  func rests(_ id: ObjectIdentifier) { state.withLock { $0.book.rest(id) } }

  func becameStream(_ id: ObjectIdentifier) { state.withLock { $0.book.becomeStream(id) } }

  /// Whose request a connection carries.
  /// - Returns: why it is not answered.
  func identify(_ id: ObjectIdentifier, as client: AccessKey) -> Problem? {
    let (problem, closing) = state.withLock { state -> (Problem?, [any Channel]) in
      switch state.book.identify(id, as: client) {
      case .admitted: return (nil, [])
      case .replaces(let idle): return (nil, state.remove([idle]))
      case .tooMany:
        state.reached[.connections, default: 0] += 1
        return (.tooManyConnections, [])
      case .unread:
        state.reached[.unread, default: 0] += 1
        return (.unreadAnswers, [])
      }
    }
    for one in closing { one.close(promise: nil) }
    return problem
  }

  /// - Returns: why the answer must not be handed to the connection.
  func hold(_ bytes: Int, of client: AccessKey, on id: ObjectIdentifier) -> Problem? {
    guard bytes > ConnectionLimits.unsentBytesMin else { return nil }
    return state.withLock { state in
      if state.book.hold(bytes, of: client, on: id) { return nil }
      state.reached[.unread, default: 0] += 1
      return .unreadAnswers
    }
  }
}

extension Problem {
  static let unreadAnswers = Problem(
    .tooManyRequests, code: "answers_unread",
    title: "too many bytes of earlier answers wait unread", headers: [.retryAfter: "5"])

  static let tooManyConnections = Problem(
    .tooManyRequests, code: "too_many_connections",
    title: "the user has too many connections, and all of them are in use",
    headers: [.retryAfter: "1"])
}

extension Channel {
  /// Ends it at once. What the other side has not taken is thrown away: the kernel would keep it
  /// for minutes. Called on its event loop.
  func abandon() {
    _ = (self as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
    close(promise: nil)
  }
}
