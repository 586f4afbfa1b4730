/// Sweeps to a crowd of followers: the gateway and the floor in turn, each with connections of its
/// own to a client of its own, the same program.

import Glibc
import Platform

struct FanOutBench {
  /// One side: its server, who follows it, and what was measured.
  struct Side {
    let server: ServerProcess
    let crowd: ServerProcess
    var latency: BenchRow
    var cpu = BenchRow("")
    var messageBytes = 0
    var slowMessages = 0
    var closed = 0

    init(_ kind: PeerServer.Kind, named name: String, isRealTime: Bool) throws {
      server = try ServerProcess(kind, isRealTime: isRealTime)
      crowd = try ServerProcess(.crowd, isRealTime: isRealTime)
      latency = BenchRow(name)
    }

    mutating func clear() { (latency.rounds, cpu.rounds) = ([], []) }

    mutating func order(_ line: String) throws {
      try crowd.post(line)
      let counts = try crowd.answers(2)
      (slowMessages, closed) = (Int(counts[0]), Int(counts[1]))
    }

    /// One sweep, from the order to the last delivery.
    mutating func measure(_ order: String, expected: Int) throws {
      try crowd.order("read \(expected)")
      let before = server.cpuMilliseconds
      let begin = try server.order(order)
      let counts = try crowd.answers(2)
      let moments = try crowd.answers(Int(counts[1]))
      guard moments.count == expected else {
        throw BenchFailure(
          description: "\(moments.count) of \(expected) messages of a sweep were delivered")
      }
      cpu.rounds.append(server.cpuMilliseconds - before)
      latency.rounds += moments.map { Double($0 - begin) / 1_000_000 }
      messageBytes = Int(counts[0]) / max(expected, 1)
    }
  }

  private static let pauseMicroseconds: useconds_t = 100_000
  private static let connectingMax = 500

  let isRealTime: Bool
  private(set) var ours: Side
  private(set) var floor: Side
  /// By follower: what it follows.
  private var places: [[Int]] = []
  private var sweep = 0
  /// The first so many followers are not noted.
  private var firstNoted = 0

  init() throws {
    isRealTime = RealTime.enter()
    RealTime.leave()
    ours = try Side(.gateway, named: "candled-gateway", isRealTime: isRealTime)
    floor = try Side(.floor, named: "floor: send() of a ready frame", isRealTime: isRealTime)
  }

  // MARK: Followers

  /// Connects more of them, to both sides.
  mutating func grow(to followers: Int) throws {
    while places.count < followers {
      let first = places.count
      let last = min(first + Self.connectingMax, followers)
      try ours.order("follow \(ours.server.port) \(last)")
      try floor.order("connect \(floor.server.port) \(last)")
      try floor.server.order("accept \(last)")
      places += (first..<last).map(FanOut.places)
    }
  }

  /// From now on the deliveries of the first so many do not count.
  mutating func setUnnoted(first: Int) throws {
    firstNoted = first
    try ours.order("note \(first)")
  }

  /// The first so many read nothing.
  mutating func stopReading(first: Int) throws { try ours.order("stop \(first)") }

  mutating func readOn(first: Int) throws { try ours.order("resume \(first)") }

  /// Begins to gather anew.
  mutating func clear() {
    ours.clear()
    floor.clear()
  }

  // MARK: Sweeps

  /// So many sweeps of each side in turn, after some that do not count.
  mutating func compare(rounds: Int, warmingRounds: Int = 3) throws {
    for round in -warmingRounds..<rounds {
      if round == 0 { clear() }
      try publish()
      usleep(Self.pauseMicroseconds)
      try floor.measure("send \(ours.messageBytes)", expected: places.count)
      usleep(Self.pauseMicroseconds)
    }
  }

  /// Sweeps of the gateway alone.
  mutating func publish(rounds: Int, everyMilliseconds: Int64 = 0) throws {
    for _ in 0..<rounds {
      let begin = MonotonicClock.milliseconds()
      try publish()
      let left = begin + everyMilliseconds - MonotonicClock.milliseconds()
      usleep(left > 0 ? useconds_t(left) * 1_000 : Self.pauseMicroseconds)
    }
  }

  private mutating func publish() throws {
    sweep += 1
    try ours.server.order("prepare \(sweep)")
    let changes = FanOut.changes(in: sweep)
    let expected = places[firstNoted...].count { $0.contains { changes[$0] } }
    try ours.measure("publish", expected: expected)
  }
}
