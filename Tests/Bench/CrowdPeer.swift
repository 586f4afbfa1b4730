/// The followers of one server: connects them and reads what they get, as it is ordered.

enum CrowdPeer {
  private static let deliveryMillisecondsMax: Int64 = 10_000
  private static let quietMilliseconds: Int32 = 20
  private static let connectingMillisecondsMax: Int32 = 2_000

  static func run() throws {
    PeerServer.answer(0)
    var crowd = try FollowerCrowd()
    while let order = readLine() {
      let words = order.split(separator: " ")
      let numbers = words.dropFirst().compactMap { Int($0) }
      guard let verb = words.first, let number = numbers.first, let last = numbers.last else {
        throw BenchFailure(description: "cannot read the order \(order)")
      }
      switch verb {
      case "connect":
        for _ in crowd.count..<last {
          crowd.add(try BenchSocket.connect(to: UInt16(number)))
        }
      case "follow":
        try follow(crowd.count..<last, port: UInt16(number), crowd: &crowd)
      case "note": crowd.setUnnoted(first: number)
      case "stop": crowd.stopReading(first: number)
      case "resume": crowd.readOn(first: number)
      case "read":
        PeerServer.answer(0)
        read(messages: number, by: &crowd)
        continue
      default: throw BenchFailure(description: "unknown order \(order)")
      }
      PeerServer.answer(Int64(crowd.slowMessages), Int64(crowd.closed))
    }
  }

  /// Opens WebSockets, and waits for the snapshot of each.
  private static func follow(
    _ range: Range<Int>, port: UInt16, crowd: inout FollowerCrowd
  ) throws {
    let sockets = try range.map { _ in
      let socket = try BenchSocket.connect(to: port)
      try BenchSocket.send(BenchSocket.upgradeRequest(), to: socket)
      return socket
    }
    for (follower, socket) in zip(range, sockets) {
      let rest = try BenchSocket.upgrade(socket)
      try BenchSocket.send(BenchSocket.frame(FanOut.subscription(of: follower)), to: socket)
      crowd.add(socket, rest: rest)
    }
    while crowd.snapshots < range.upperBound {
      let before = crowd.snapshots
      crowd.readSome(milliseconds: connectingMillisecondsMax)
      guard crowd.snapshots > before || crowd.snapshots == range.upperBound else {
        throw BenchFailure(
          description: "\(before) of \(range.upperBound) followers got a snapshot")
      }
    }
  }

  /// Answers with the bytes of a sweep's messages, their number, and when each was read.
  private static func read(messages: Int, by crowd: inout FollowerCrowd) {
    crowd.beginSweep()
    crowd.read(messages: messages, milliseconds: deliveryMillisecondsMax)
    crowd.readRest(milliseconds: quietMilliseconds)
    PeerServer.answer(
      [Int64(crowd.deliveredBytes), Int64(crowd.delivered)] + crowd.moments)
  }
}
