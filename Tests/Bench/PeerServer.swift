/// `candled-bench --serve KIND`: the servers that `gateway` measures and the crowds that follow
/// them, each a process of its own that takes orders by lines. It ends with its standard input.

import Gateway
import Glibc
import Logging
import NIOCore
import NIOPosix
import Operations
import Platform

struct PeerServer {
  enum Kind: String {
    /// The gateway without PostgreSQL: sweeps are published in memory.
    case gateway
    /// `send()` of a frame that is ready, to all who connected.
    case floor
    /// No server: clients of one of them.
    case crowd
  }

  static let flag = "--serve"
  static let realTimeFlag = "--real-time"

  private let kind: Kind
  private let isRealTime: Bool

  /// nil if that is not what the arguments ask.
  init?(_ arguments: some Sequence<String>) {
    let words = Array(arguments)
    guard words.count > 1, words[0] == Self.flag, let kind = Kind(rawValue: words[1]) else {
      return nil
    }
    self.kind = kind
    isRealTime = words.contains(Self.realTimeFlag)
  }

  func run() async -> Never {
    signal(SIGPIPE, SIG_IGN)
    // Threads begin with the priority of whoever starts them.
    if isRealTime { _ = RealTime.enter() }
    do {
      switch kind {
      case .gateway: try await GatewayPeer.run()
      case .floor: try FloorPeer.run()
      case .crowd: try CrowdPeer.run()
      }
    } catch {
      let text = Array("\(error)\n".utf8)
      write(STDERR_FILENO, text, text.count)
      exit(70)
    }
    exit(0)
  }

  /// Answers the order, and the start with the port.
  static func answer(_ numbers: Int64...) { answer(numbers) }

  static func answer(_ numbers: [Int64]) {
    printLine(numbers.map(String.init).joined(separator: "\n"))
  }
}

/// The lowest real-time priority: nobody with an ordinary one runs in between.
enum RealTime {
  /// - Returns: whether the calling thread may, and does.
  static func enter() -> Bool { set(SCHED_RR, priority: 1) }

  static func leave() { _ = set(SCHED_OTHER, priority: 0) }

  private static func set(_ policy: Int32, priority: Int32) -> Bool {
    var parameters = sched_param(sched_priority: priority)
    return pthread_setschedparam(pthread_self(), policy, &parameters) == 0
  }
}

private enum GatewayPeer {
  static func run() async throws {
    let loops = MultiThreadedEventLoopGroup.singleton
    let log = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
    let gateway = Gateway(
      GatewayOptions(listen: .ipv4(host: "127.0.0.1", port: 0), databaseURL: ""), log: log)
    let (parts, _) = gateway.parts(
      control: AccessControl(.init(anonymous: true), directory: TokenDirectory()), loops: loops)
    let market = try FannedMarket()
    market.publish(to: gateway.memory)
    gateway.ring.reset(epoch: 1, seq: 1)
    let server = try await gateway.listen(parts, on: loops)
    PeerServer.answer(Int64(server.channel.localAddress?.port ?? 0))
    // A thread of its own, as the follower of the database has one.
    try DetachedThread.start(name: "orders") {
      var market = market
      while let order = readLine() {
        let words = order.split(separator: " ")
        if words.first == "prepare" {
          market.prepare(sweep: Int(words.last ?? "") ?? 0)
          PeerServer.answer(0)
        } else {
          let begin = MonotonicClock.nanoseconds()
          market.publish(to: gateway.memory, ring: gateway.ring, sinks: parts.sinks)
          PeerServer.answer(begin)
        }
      }
      exit(0)
    }
    await server.run()
  }
}
