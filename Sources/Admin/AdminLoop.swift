import Glibc
import Logging
import Operations
import Platform

/// What the admin thread does, turn by turn. Belongs to that thread alone.
struct AdminLoop {
  private let address: ListenAddress
  private let endpoint: AdminEndpoint
  private let mailbox: AdminMailbox
  private let log: Logger
  private var listener: Int32?
  private var connections: [Int32: AdminConnection] = [:]
  private var visits: UInt64 = 0
  /// Reports that have been asked for and have not come.
  private var reportsUnderWay = 0
  /// When listening or accepting, having failed, is tried again.
  private var pausedUntil: Int64 = 0
  private var isRefusalLogged = false

  /// A scraper, a monitor, an operator, and room for those who do not go.
  static let connectionsMax = 64
  /// A report takes a millisecond; so many wait only if the engine hangs.
  static let reportsMax = 16
  static let responseSecondsMax: Int64 = 3
  static let pauseSeconds: Int64 = 2
  private static let second: Int64 = 1_000_000_000

  init(address: ListenAddress, endpoint: AdminEndpoint, mailbox: AdminMailbox, log: Logger) {
    self.address = address
    self.endpoint = endpoint
    self.mailbox = mailbox
    self.log = log
  }

  mutating func run() {
    while true {
      let now = MonotonicClock.nanoseconds()
      listenIfDue(now)
      let ready = wait(from: now)
      let mail = mailbox.take()
      if mail.isStopping { break }
      for reply in mail.replies { deliver(reply.response, to: reply.place, reply.visit) }
      reportsUnderWay -= mail.replies.count
      for place in ready { serve(place) }
      if listener != nil, MonotonicClock.nanoseconds() >= pausedUntil { accept() }
      endLate(MonotonicClock.nanoseconds())
    }
    for place in connections.keys { close(place) }
    if let listener { AdminSocket.closeListener(listener, at: address) }
  }

  /// Waits for something to do; the connections that can go on.
  private func wait(from now: Int64) -> [Int32] {
    var watched = [pollfd(fd: mailbox.wake, events: Int16(POLLIN), revents: 0)]
    if let listener, now >= pausedUntil {
      watched.append(pollfd(fd: listener, events: Int16(POLLIN), revents: 0))
    }
    watched += connections.values.map {
      pollfd(fd: $0.socket, events: $0.events, revents: 0)
    }
    var due = connections.values.map(\.deadline)
    if pausedUntil > now { due.append(pausedUntil) }
    let milliseconds = due.min().map { Int32(clamping: max($0 - now, 0) / 1_000_000 + 1) } ?? -1
    guard poll(&watched, nfds_t(watched.count), milliseconds) > 0 else { return [] }
    return watched.filter { $0.revents != 0 && connections[$0.fd] != nil }.map(\.fd)
  }

  // MARK: Listening

  /// A port that is taken is no reason not to record: it is said once, and tried again.
  private mutating func listenIfDue(_ now: Int64) {
    guard listener == nil, now >= pausedUntil else { return }
    switch AdminSocket.listen(at: address) {
    case .success(let (socket, bound)):
      listener = socket
      isRefusalLogged = false
      log.info("admin endpoint listening", metadata: ["address": "\(bound)"])
      if !address.isLocal {
        log.warning(
          "the admin endpoint is open to other machines without a password",
          metadata: ["address": "\(bound)"])
      }
    case .failure(let error):
      pausedUntil = now + AdminLoop.pauseSeconds * AdminLoop.second
      if !isRefusalLogged {
        log.error(
          "the admin endpoint cannot listen, will retry",
          metadata: ["address": "\(address)", "error": "\(error.sentence)"])
      }
      isRefusalLogged = true
    }
  }

  private mutating func accept() {
    guard let listener else { return }
    while true {
      let now = MonotonicClock.nanoseconds()
      switch AdminSocket.accept(listener) {
      case .accepted(let socket):
        if connections.count >= AdminLoop.connectionsMax { endOldest() }
        visits += 1
        connections[socket] = AdminConnection(socket: socket, visit: visits, acceptedAt: now)
      case .nobody: return
      case .failed:
        // Out of descriptors: those who wait are asked for again in a while, not at once.
        pausedUntil = now + AdminLoop.pauseSeconds * AdminLoop.second
        return
      }
    }
  }

  // MARK: Connections

  private mutating func serve(_ place: Int32) {
    guard var connection = connections[place] else { return }
    switch connection.advance() {
    case .goesOn: connections[place] = connection
    case .ended: end(place)
    case .asks(let request):
      connections[place] = connection
      respond(request, at: place, visit: connection.visit)
    }
  }

  private mutating func respond(_ request: AdminRequest, at place: Int32, visit: UInt64) {
    guard address.isMeant(by: request) else {
      return deliver(ListenAddress.hostRefusal, to: place, visit)
    }
    if let response = endpoint.immediateResponse(request) {
      return deliver(response, to: place, visit)
    }
    guard reportsUnderWay < AdminLoop.reportsMax else {
      return deliver(.unavailable("the daemon does not respond"), to: place, visit)
    }
    reportsUnderWay += 1
    connections[place]?.deadline =
      MonotonicClock.nanoseconds() + AdminLoop.responseSecondsMax * AdminLoop.second
    let endpoint = endpoint
    let mailbox = mailbox
    Task { mailbox.post(await endpoint.response(to: request), to: place, visit: visit) }
  }

  private mutating func deliver(_ response: AdminResponse, to place: Int32, _ visit: UInt64) {
    guard var connection = connections[place], connection.visit == visit else { return }
    connection.respond(with: response, at: MonotonicClock.nanoseconds())
    connections[place] = connection
    serve(place)
  }

  /// Whoever waits for an answer is told that none comes; the others are only cut off.
  private mutating func endLate(_ now: Int64) {
    for connection in connections.values where connection.deadline <= now {
      if connection.isWaiting {
        deliver(
          .unavailable("the daemon does not respond"), to: connection.socket, connection.visit)
      } else {
        end(connection.socket)
      }
    }
  }

  private mutating func endOldest() {
    if let oldest = connections.values.min(by: { $0.visit < $1.visit }) { end(oldest.socket) }
  }

  private mutating func end(_ place: Int32) {
    connections[place] = nil
    close(place)
  }
}
