import CLinux
import Foundation
import Glibc
import Platform

/// Many connections that are opened within seconds, on the calling thread. What each gets is
/// counted as it comes, and read whole only of a few: the machine is shared with the gateway.
struct ReconnectStorm {
  private struct Seat {
    var follower: AppFollower
    let isWhole: Bool
    /// Objects that are still due.
    var prices: Int
    var candles: Int
    var link: AppLink?
    var beganAt: Int64 = 0
    var isRecovered = false
    var isDone = false
  }

  private var seats: [Seat]
  private let port: UInt16
  private let stored: StoredMarket
  private(set) var milliseconds: [Int64] = []
  private(set) var lastMilliseconds: Int64 = 0
  private(set) var bytes = 0
  private(set) var complaints: [String] = []

  private static let eventsMax = 512
  private static let snapshotHead = Array("{\"type\":\"snapshot\"".utf8)
  private static let candlesHead = Array("{\"type\":\"candles\"".utf8)
  private static let subscribedHead = Array("{\"type\":\"subscribed\"".utf8)
  private static let otherHeads = ["welcome", "authenticated", "stock-prices", "heartbeat"].map {
    Array("{\"type\":\"\($0)\"".utf8)
  }

  init(
    _ plans: [AppFollower.Plan], after position: AppFollower.Position,
    expecting stored: StoredMarket, port: UInt16, wholeEvery: Int
  ) {
    self.port = port
    self.stored = stored
    let candles = stored.candlesBySymbol(since: position.seq, interval: "1m")
    seats = plans.enumerated().map { number, plan in
      Seat(
        follower: AppFollower(plan, after: position), isWhole: number % wholeEvery == 0,
        prices: plan.symbols.count { stored.priceSeq(of: $0) > position.seq },
        candles: plan.symbols.reduce(0) { $0 + candles[$1, default: 0] })
    }
  }

  mutating func run(withinSeconds: Int64, giveUpSeconds: Int64) {
    let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    defer { close(epoll) }
    var events = [epoll_event](repeating: epoll_event(), count: Self.eventsMax)
    let began = MonotonicClock.milliseconds()
    var opened = 0
    while milliseconds.count < seats.count {
      let now = MonotonicClock.milliseconds() - began
      if now > giveUpSeconds * 1_000 { break }
      let due = min(Int(now) * seats.count / Int(withinSeconds * 1_000) + 1, seats.count)
      while opened < due {
        open(opened, epoll)
        opened += 1
      }
      let count = epoll_wait(epoll, &events, Int32(Self.eventsMax), 2)
      for event in events.prefix(Int(max(count, 0))) {
        handle(Int(event.data.u64), epoll)
      }
      lastMilliseconds = MonotonicClock.milliseconds() - began
    }
    for place in seats.indices {
      seats[place].link?.close()
      guard seats[place].isWhole else { continue }
      complaints += stored.differences(of: seats[place].follower, isResumed: true)
      complaints += seats[place].follower.complaints
    }
  }

  private mutating func open(_ place: Int, _ epoll: Int32) {
    let follower = seats[place].follower
    seats[place].beganAt = MonotonicClock.milliseconds()
    seats[place].link = AppLink(
      port: port, path: follower.path, headers: follower.headers, isEvents: false)
    guard let link = seats[place].link else {
      complaints.append("no socket for connection \(place): errno \(errno)")
      return
    }
    var event = epoll_event()
    event.events = EPOLLIN.rawValue | EPOLLOUT.rawValue
    event.data.u64 = UInt64(place)
    epoll_ctl(epoll, EPOLL_CTL_ADD, link.descriptor, &event)
  }

  private mutating func handle(_ place: Int, _ epoll: Int32) {
    guard seats[place].link != nil else { return }
    var isOpen = seats[place].link?.flush() ?? false
    let reading = seats[place].link?.receive()
    while isOpen, let input = seats[place].link?.next() { isOpen = take(input, place) }
    isOpen = isOpen && seats[place].link?.flush() ?? false
    guard isOpen, reading != .ended, let link = seats[place].link else {
      if !seats[place].isDone { complaints.append("connection \(place) ended") }
      seats[place].link?.close()
      seats[place].link = nil
      return
    }
    var event = epoll_event()
    event.events = EPOLLIN.rawValue | (link.hasOutput ? EPOLLOUT.rawValue : 0)
    event.data.u64 = UInt64(place)
    epoll_ctl(epoll, EPOLL_CTL_MOD, link.descriptor, &event)
  }

  private mutating func take(_ input: AppLink.Input, _ place: Int) -> Bool {
    switch input {
    case .head(101):
      let subscription = seats[place].follower.subscription
      seats[place].link?.send(subscription)
      return true
    case .head(let status):
      complaints.append("connection \(place): status \(status)")
    case .closed(let code):
      complaints.append("connection \(place): closed with \(code)")
    case .message(let json, _):
      bytes += json.count
      count(json, place)
      if seats[place].isWhole {
        seats[place].follower.take(json, eventID: nil, restored: nil)
      }
      return true
    }
    return false
  }

  private mutating func count(_ json: Data, _ place: Int) {
    if json.starts(with: Self.snapshotHead) {
      seats[place].prices -= json.count(of: "\"currentPrice\":")
    } else if json.starts(with: Self.candlesHead) {
      seats[place].candles -= json.count(of: "\"state\":\"final\"")
    } else if json.starts(with: Self.subscribedHead) {
      seats[place].isRecovered = json.count(of: "\"recovered\":true") == 1
    } else if !Self.otherHeads.contains(where: { json.starts(with: $0) }) {
      complaints.append("connection \(place): \(String(decoding: json.prefix(120), as: UTF8.self))")
    }
    let seat = seats[place]
    if seat.prices < 0 || seat.candles < 0 { complaints.append("connection \(place) got too much") }
    guard !seat.isDone, seat.isRecovered, seat.prices == 0, seat.candles == 0 else { return }
    seats[place].isDone = true
    milliseconds.append(MonotonicClock.milliseconds() - seat.beganAt)
  }
}

extension Data {
  /// How often a text occurs.
  fileprivate func count(of text: String) -> Int {
    let pattern = Array(text.utf8)
    return withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return 0 }
      var (found, place) = (0, 0)
      while place + pattern.count <= bytes.count,
        let next = memchr(base + place, Int32(pattern[1]), bytes.count - place - 1)
      {
        place = UnsafeRawPointer(next) - base
        if place > 0, place - 1 + pattern.count <= bytes.count,
          memcmp(base + place - 1, pattern, pattern.count) == 0
        {
          found += 1
        }
        place += 1
      }
      return found
    }
  }
}
