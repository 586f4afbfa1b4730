/// Who is next to use one of a few resources: the value behind `QueryPool`, without I/O.
///
/// Clients take turns: of what waits, each client has one before any has a second. A client uses
/// half of the resources at most, so that it never has all of them; what many wait for alike, which
/// takes long, uses one.

import AppStore

struct TurnQueue<Request: Sendable, Resource: Sendable>: Sendable {
  private struct Client: Sendable {
    var running = 0
    var waiting: [Request] = []
  }

  /// The last is taken first.
  private var idle: [Resource]
  /// Those with something that runs or waits; what is nobody's counts as one.
  private var clients: [AccessKey?: Client] = [:]
  /// Of those with something that waits, in the order of their turns.
  private var turns: [AccessKey?] = []
  private let runningOfClientMax: Int
  private let waitingMax: Int
  private(set) var waiting = 0

  /// - Parameter waitingMax: of all; one client has half of it.
  init(_ resources: [Resource], waitingMax: Int) {
    idle = resources
    runningOfClientMax = max(resources.count / 2, 1)
    self.waitingMax = waitingMax
  }

  /// To be followed by `next`.
  /// - Returns: whether there was room for it.
  mutating func enter(_ request: Request, of client: AccessKey?) -> Bool {
    let own = clients[client]?.waiting.count ?? 0
    let mayWait = waiting < waitingMax && (client == nil || own < (waitingMax + 1) / 2)
    guard mayWait || own == 0 && !idle.isEmpty && mayRun(client) else { return false }
    if own == 0 { turns.append(client) }
    clients[client, default: Client()].waiting.append(request)
    waiting += 1
    return true
  }

  private func mayRun(_ client: AccessKey?) -> Bool {
    let most = client == .everybody ? 1 : runningOfClientMax
    return client == nil || clients[client, default: Client()].running < most
  }

  /// What begins now.
  mutating func next() -> (request: Request, resource: Resource)? {
    guard let turn = turns.firstIndex(where: mayRun), let resource = idle.popLast() else {
      return nil
    }
    let client = turns.remove(at: turn)
    guard let request = clients[client]?.waiting.removeFirst() else { return nil }
    clients[client]?.running += 1
    waiting -= 1
    if clients[client]?.waiting.isEmpty == false { turns.append(client) }
    return (request, resource)
  }

  /// A request has ended; to be followed by `next`.
  /// - Parameter isBroken: whether others are to be taken before it.
  mutating func leave(_ resource: Resource, of client: AccessKey?, isBroken: Bool = false) {
    idle.insert(resource, at: isBroken ? 0 : idle.count)
    clients[client]?.running -= 1
    if let entry = clients[client], entry.running == 0, entry.waiting.isEmpty {
      clients[client] = nil
    }
  }
}
