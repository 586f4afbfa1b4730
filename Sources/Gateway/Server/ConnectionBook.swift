/// Which connections there are, whose they are, which are idle and what their clients have not
/// taken: the value behind `ConnectionTable`, without I/O.
///
/// A client is an address until it shows a token, and its user from then on. A connection of a
/// proxy that is trusted carries many clients' requests: it has no client, though its answers do.
/// A stream has no client either: streams are counted by `StreamConnections`.

import AppStore

struct ConnectionBook<ID: Hashable & Sendable>: Sendable {
  private struct Entry: Sendable {
    var client: AccessKey?
    /// Whether it is one of those that have a client at all.
    let isCounted: Bool
    /// Which turn it became idle in; nil while a request is answered, and of a stream.
    var idleTurn: Int64?
    /// What of its answers the kernel may not have taken.
    var unsent: [AccessKey: Int] = [:]
  }

  /// Connections by when they became idle. Those that are idle no longer stay in it until they are
  /// found there, or are too many. A turn is one connection's, so that it names its client, too.
  private struct IdleQueue: Sendable {
    private var items: [(turn: Int64, id: ID)] = []
    private var first = 0
    private var countMax = Self.countMin
    private static var countMin: Int { 64 }

    mutating func append(_ item: (turn: Int64, id: ID), among entries: [ID: Entry]) {
      items.append(item)
      guard items.count > countMax else { return }
      items = items[first...].filter { entries[$0.id]?.idleTurn == $0.turn }
      (first, countMax) = (0, max(2 * items.count, Self.countMin))
    }

    mutating func removeFirst(among entries: [ID: Entry]) -> ID? {
      while first < items.count {
        let (turn, id) = items[first]
        first += 1
        if entries[id]?.idleTurn == turn { return id }
      }
      return nil
    }
  }

  enum Identification: Equatable, Sendable {
    case admitted
    /// In place of one that was idle, which must be closed.
    case replaces(ID)
    case tooMany
    /// It reads too little of what it has asked for.
    case unread
  }

  let limits: ConnectionLimits
  private var entries: [ID: Entry] = [:]
  private var counts: [AccessKey: Int] = [:]
  private var idle: [AccessKey: IdleQueue] = [:]
  private var allIdle = IdleQueue()
  private var turn: Int64 = 0
  private var unsent: [AccessKey: Int] = [:]
  /// Who had no room for the last answer: the next one would be made, and thrown away, as well.
  private var full: Set<AccessKey> = []
  private(set) var unsentBytes = 0

  init(_ limits: ConnectionLimits) { self.limits = limits }

  var count: Int { entries.count }

  // MARK: Connections

  /// - Parameter client: nil of a proxy's.
  /// - Returns: what must be closed in its favour, or itself.
  mutating func open(_ id: ID, client: AccessKey?) -> [ID] {
    var closing: [ID] = []
    if let client, counts[client, default: 0] >= limits.connections(of: client) {
      guard let oldest = removeOldestIdle(of: client) else { return [id] }
      closing.append(oldest)
    }
    if entries.count >= limits.connectionsMax {
      guard let oldest = removeOldestIdle(of: nil) else { return [id] }
      closing.append(oldest)
    }
    entries[id] = Entry(client: client, isCounted: client != nil)
    if let client { counts[client, default: 0] += 1 }
    rest(id)
    return closing
  }

  mutating func close(_ id: ID) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    release(entry.unsent)
    uncount(entry.client)
  }

  /// A request began.
  mutating func begin(_ id: ID) { entries[id]?.idleTurn = nil }

  /// All its requests are answered, and the kernel has the answers.
  mutating func rest(_ id: ID) {
    guard var entry = entries[id] else { return }
    release(entry.unsent)
    turn += 1
    (entry.unsent, entry.idleTurn) = ([:], turn)
    entries[id] = entry
    allIdle.append((turn, id), among: entries)
    if let client = entry.client {
      idle[client, default: IdleQueue()].append((turn, id), among: entries)
    }
  }

  mutating func becomeStream(_ id: ID) {
    guard let entry = entries[id] else { return }
    // What the client has not taken is the stream's from now on, which ends where it stalls.
    release(entry.unsent)
    entries[id]?.unsent = [:]
    entries[id]?.idleTurn = nil
    guard let client = entry.client else { return }
    entries[id]?.client = nil
    uncount(client)
  }

  /// Whose request it carries, before that is answered.
  mutating func identify(_ id: ID, as client: AccessKey) -> Identification {
    if full.contains(client) || unsent[client, default: 0] >= limits.unsentBytesOfClientMax {
      return .unread
    }
    guard let entry = entries[id], entry.isCounted, entry.client != client, case .user = client
    else { return .admitted }
    var outcome = Identification.admitted
    if counts[client, default: 0] >= limits.connections(of: client) {
      guard let oldest = removeOldestIdle(of: client) else { return .tooMany }
      outcome = .replaces(oldest)
    }
    uncount(entry.client)
    counts[client, default: 0] += 1
    entries[id]?.client = client
    return outcome
  }

  private mutating func uncount(_ client: AccessKey?) {
    guard let client, let count = counts[client] else { return }
    counts[client] = count > 1 ? count - 1 : nil
    if count == 1 { idle[client] = nil }
  }

  /// - Parameter client: nil: of all.
  private mutating func removeOldestIdle(of client: AccessKey?) -> ID? {
    let oldest =
      if let client {
        idle[client]?.removeFirst(among: entries)
      } else {
        allIdle.removeFirst(among: entries)
      }
    if let oldest { close(oldest) }
    return oldest
  }

  // MARK: Answers

  /// Whether an answer may be handed to the connection; it counts then until the connection rests.
  /// Where the client has no room for it, nothing of it is answered until it has taken something.
  mutating func hold(_ bytes: Int, of client: AccessKey, on id: ID) -> Bool {
    let ofClient = unsent[client, default: 0]
    guard ofClient == 0 || ofClient + bytes <= limits.unsentBytesOfClientMax,
      unsentBytes == 0 || unsentBytes + bytes <= limits.unsentBytesMax
    else {
      if ofClient > 0, ofClient + bytes > limits.unsentBytesOfClientMax { full.insert(client) }
      return false
    }
    guard entries[id] != nil else { return true }
    entries[id]?.unsent[client, default: 0] += bytes
    unsent[client] = ofClient + bytes
    unsentBytes += bytes
    return true
  }

  private mutating func release(_ held: [AccessKey: Int]) {
    for (client, bytes) in held {
      let left = unsent[client, default: 0] - bytes
      unsent[client] = left > 0 ? left : nil
      full.remove(client)
      unsentBytes -= bytes
    }
  }
}
