/// Thousands of WebSocket clients on one thread with one epoll: counts messages and notes when each
/// was read, and does nothing else with them. Its state is plain memory, so that what it costs is
/// the kernel's work.

import CLinux
import Glibc
import Platform

struct FollowerCrowd: ~Copyable {
  /// A client, and how much of a frame it has read.
  private struct Follower {
    var socket: Int32
    /// Whether it is one of those whose messages are noted.
    var isNoted = true
    /// What comes next: 0 the first byte, 1 the length, 2 the rest of the length, 3 the payload.
    var stage: UInt8 = 0
    var lengthBytesLeft: UInt8 = 0
    /// The bytes that tell messages apart.
    var kind: UInt16 = 0
    var payloadLeft = 0
    var position = 0
  }

  private static let kindOffset = 9
  private static let eventsMax = 512
  private static let readBytes = 256 << 10
  /// At position 9 of a message: `{"type":"stock-prices"` and the others.
  private static let prices = kind("st")
  private static let slow = kind("sl")
  private static let snapshot = kind("sn")

  private let epoll: Int32
  private let followers: UnsafeMutablePointer<Follower>
  private let buffer: UnsafeMutablePointer<UInt8>
  private let events: UnsafeMutablePointer<epoll_event>
  /// When the messages of this sweep were read, by the steady clock.
  private let deliveries: UnsafeMutablePointer<Int64>
  private(set) var count = 0
  private(set) var delivered = 0
  private(set) var deliveredBytes = 0
  private(set) var snapshots = 0
  private(set) var slowMessages = 0
  private(set) var closed = 0

  init() throws {
    epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard epoll >= 0 else { throw BenchFailure(description: "no epoll") }
    followers = .allocate(capacity: FanOut.followersMax)
    deliveries = .allocate(capacity: FanOut.followersMax + 1)
    buffer = .allocate(capacity: Self.readBytes)
    events = .allocate(capacity: Self.eventsMax)
  }

  deinit {
    for index in 0..<count { close(followers[index].socket) }
    close(epoll)
    followers.deallocate()
    deliveries.deallocate()
    buffer.deallocate()
    events.deallocate()
  }

  private static func kind(_ text: StaticString) -> UInt16 {
    UInt16(text.utf8Start[0]) << 8 | UInt16(text.utf8Start[1])
  }

  // MARK: Who follows

  /// - Parameter rest: what was read of its messages already.
  mutating func add(_ socket: Int32, rest: [UInt8] = []) {
    followers[count] = Follower(socket: socket)
    BenchSocket.setNonBlocking(socket)
    rest.withUnsafeBufferPointer { rest in
      if let start = rest.baseAddress { read(start, rest.count, by: count, at: 0) }
    }
    listen(to: count)
    count += 1
  }

  private func listen(to index: Int) {
    var event = epoll_event()
    event.events = EPOLLIN.rawValue
    event.data.u32 = UInt32(index)
    epoll_ctl(epoll, EPOLL_CTL_ADD, followers[index].socket, &event)
  }

  /// The first so many are not noted.
  func setUnnoted(first: Int) {
    for index in 0..<count { followers[index].isNoted = index >= first }
  }

  /// The first so many read no more.
  func stopReading(first: Int) {
    for index in 0..<first {
      epoll_ctl(epoll, EPOLL_CTL_DEL, followers[index].socket, nil)
    }
  }

  func readOn(first: Int) {
    for index in 0..<first { listen(to: index) }
  }

  // MARK: Reading

  mutating func beginSweep() { (delivered, deliveredBytes) = (0, 0) }

  /// When each message of this sweep was read, by the steady clock.
  var moments: [Int64] { (0..<delivered).map { deliveries[$0] } }

  /// Reads until so many messages of the sweep were noted, at most for so long.
  mutating func read(messages: Int, milliseconds: Int64) {
    let deadline = MonotonicClock.milliseconds() + milliseconds
    while delivered < messages {
      let left = deadline - MonotonicClock.milliseconds()
      guard left > 0 else { return }
      readSome(milliseconds: Int32(left))
    }
  }

  /// Reads until nothing came for so long.
  mutating func readRest(milliseconds: Int32) {
    while readSome(milliseconds: milliseconds) {}
  }

  /// - Returns: whether something came.
  @discardableResult
  mutating func readSome(milliseconds: Int32) -> Bool {
    let ready = epoll_wait(epoll, events, Int32(Self.eventsMax), milliseconds)
    guard ready > 0 else { return false }
    for position in 0..<Int(ready) {
      let index = Int(events[position].data.u32)
      let bytes = recv(followers[index].socket, buffer, Self.readBytes, 0)
      if bytes > 0 {
        read(buffer, bytes, by: index, at: MonotonicClock.nanoseconds())
      } else if bytes == 0 || errno != EAGAIN {
        closed += 1
        epoll_ctl(epoll, EPOLL_CTL_DEL, followers[index].socket, nil)
      }
    }
    return true
  }

  /// RFC 6455 §5.2, as a server sends: not masked, not in fragments.
  private mutating func read(
    _ bytes: UnsafePointer<UInt8>, _ bytesCount: Int, by index: Int, at moment: Int64
  ) {
    let follower = followers + index
    var offset = 0
    while offset < bytesCount {
      guard follower.pointee.stage == 3 else {
        readHeader(bytes[offset], of: follower)
        offset += 1
        continue
      }
      let taken = min(bytesCount - offset, follower.pointee.payloadLeft)
      for wanted in Self.kindOffset...Self.kindOffset + 1 {
        let place = wanted - follower.pointee.position
        guard place >= 0, place < taken else { continue }
        follower.pointee.kind = follower.pointee.kind << 8 | UInt16(bytes[offset + place])
      }
      follower.pointee.position += taken
      follower.pointee.payloadLeft -= taken
      offset += taken
      if follower.pointee.payloadLeft == 0 { finish(follower, at: moment) }
    }
  }

  private func readHeader(_ byte: UInt8, of follower: UnsafeMutablePointer<Follower>) {
    switch follower.pointee.stage {
    case 0: follower.pointee.stage = 1
    case 1:
      follower.pointee.lengthBytesLeft = byte == 126 ? 2 : byte == 127 ? 8 : 0
      follower.pointee.payloadLeft = byte < 126 ? Int(byte) : 0
      follower.pointee.stage = byte < 126 ? 3 : 2
    default:
      follower.pointee.payloadLeft = follower.pointee.payloadLeft << 8 | Int(byte)
      follower.pointee.lengthBytesLeft -= 1
      if follower.pointee.lengthBytesLeft == 0 { follower.pointee.stage = 3 }
    }
  }

  private mutating func finish(_ follower: UnsafeMutablePointer<Follower>, at moment: Int64) {
    switch follower.pointee.kind {
    case Self.prices where follower.pointee.isNoted:
      deliveries[delivered] = moment
      // One more than there are followers would be counted, and not kept.
      delivered = min(delivered + 1, FanOut.followersMax)
      deliveredBytes += follower.pointee.position + 4
    case Self.snapshot: snapshots += 1
    case Self.slow: slowMessages += 1
    default: break
    }
    (follower.pointee.stage, follower.pointee.position, follower.pointee.kind) = (0, 0, 0)
  }
}
