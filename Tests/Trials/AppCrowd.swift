import CLinux
import Foundation
import Glibc
import Platform
import TestSupport

/// Many apps on one thread: each follows a gateway, is cut off, reads nothing for a while, and
/// comes again, half of the times at another gateway.
final class AppCrowd: Sendable {
  /// What befalls them, each at a count of `progress`, in order.
  struct Troubles: Sendable {
    var cuts: [Int] = []
    var pauses: [Int] = []
    /// So many a second go, whatever the progress, and stay away for a while.
    var departuresPerSecond: Int64 = 0
  }

  struct State: Sendable {
    var followers: [AppFollower]
    fileprivate var seats: [Seat]
    fileprivate var troubles: Troubles
    fileprivate var random: SplitMix
    /// Of the database that was replaced by its backup.
    var restored: Int64?
    var cuts = 0
    var pauses = 0
    fileprivate var isOver = false
    fileprivate var departsAt: Int64 = 0
  }

  /// A follower's place at a gateway.
  fileprivate struct Seat: Sendable {
    var link: AppLink?
    var gateway: Int
    /// Events of an earlier connection are not this one's.
    var generation: UInt32 = 0
    var connectsAt: Int64 = 0
    var pausedUntil: Int64 = 0
  }

  private let state: Locked<State>
  private let ports: [UInt16]
  private let epoll: Int32
  private let progress: @Sendable () -> Int
  private let thread = Locked<JoinableThread?>(nil)

  private static let eventsMax = 256
  private static let waitMilliseconds: Int32 = 10
  private static let cutMilliseconds: ClosedRange<Int64> = 0...400
  /// After the gateway ended it, or could not be reached.
  private static let retryMilliseconds: ClosedRange<Int64> = 50...500
  private static let absenceMilliseconds: ClosedRange<Int64> = 500...20_000
  private static let pauseMilliseconds: ClosedRange<Int64> = 500...6_000

  /// - Parameter progress: what troubles wait for.
  init(
    _ plans: [AppFollower.Plan], ports: [UInt16], seed: UInt64, troubles: Troubles = Troubles(),
    progress: @escaping @Sendable () -> Int
  ) throws {
    var random = SplitMix(seed: seed)
    let seats = plans.map { _ in Seat(gateway: ports.indices.randomElement(using: &random) ?? 0) }
    state = Locked(
      State(
        followers: plans.map { AppFollower($0) }, seats: seats, troubles: troubles,
        random: random))
    self.ports = ports
    self.progress = progress
    epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    let crowd = try JoinableThread(name: "apps") { [self] in run() }
    thread.withLock { $0 = crowd }
  }

  func withState<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    try state.withLock(body)
  }

  func stop() {
    state.withLock { $0.isOver = true }
    thread.withLock { $0 }?.join()
  }

  // MARK: The thread

  private func run() {
    var events = [epoll_event](repeating: epoll_event(), count: Self.eventsMax)
    while true {
      let count = epoll_wait(epoll, &events, Int32(Self.eventsMax), Self.waitMilliseconds)
      let reached = progress()
      let isOver = state.withLock { state in
        for event in events.prefix(Int(max(count, 0))) { handle(event, &state) }
        if state.isOver {
          for seat in state.seats { seat.link?.close() }
          return true
        }
        tick(reached, &state)
        return false
      }
      if isOver { break }
    }
    close(epoll)
  }

  private func handle(_ event: epoll_event, _ state: inout State) {
    let index = Int(event.data.u64 & 0xFFFF_FFFF)
    guard state.seats[index].generation == UInt32(event.data.u64 >> 32),
      state.seats[index].pausedUntil == 0, state.seats[index].link != nil
    else { return }
    var isOpen = state.seats[index].link?.flush() ?? false
    let reading = state.seats[index].link?.receive()
    while isOpen, let input = state.seats[index].link?.next() {
      isOpen = take(input, index, &state)
    }
    if !isOpen || reading == .ended { return leave(index, Self.retryMilliseconds, &state) }
    isOpen = state.seats[index].link?.flush() ?? false
    if isOpen { watch(index, EPOLL_CTL_MOD, &state) } else { leave(index, 0...0, &state) }
  }

  /// - Returns: false at the end of the connection.
  private func take(_ input: AppLink.Input, _ index: Int, _ state: inout State) -> Bool {
    switch input {
    case .head(101): state.seats[index].link?.send(state.followers[index].subscription)
    case .head(200): break
    case .head(let status):
      state.followers[index].answered(status: status)
      return false
    case .message(let json, let eventID):
      state.followers[index].take(json, eventID: eventID, restored: state.restored)
    case .closed(let code):
      state.followers[index].closed(code: code)
      return false
    }
    return true
  }

  private func tick(_ reached: Int, _ state: inout State) {
    let now = MonotonicClock.milliseconds()
    for index in state.seats.indices {
      if state.seats[index].link == nil, state.seats[index].connectsAt <= now {
        connect(index, &state)
      }
      if state.seats[index].pausedUntil != 0, state.seats[index].pausedUntil <= now {
        state.seats[index].pausedUntil = 0
        watch(index, EPOLL_CTL_ADD, &state)
      }
    }
    let departures = state.troubles.departuresPerSecond
    if departures > 0, state.departsAt <= now, let index = anybody(&state) {
      state.departsAt = now + 1_000 / departures
      state.cuts += 1
      leave(index, Self.absenceMilliseconds, &state)
    }
    while let due = state.troubles.cuts.first, due <= reached, let index = anybody(&state) {
      state.troubles.cuts.removeFirst()
      state.cuts += 1
      leave(index, Self.cutMilliseconds, &state, isHard: Bool.random(using: &state.random))
    }
    while let due = state.troubles.pauses.first, due <= reached, let index = anybody(&state) {
      state.troubles.pauses.removeFirst()
      state.pauses += 1
      state.seats[index].pausedUntil =
        now + Int64.random(in: Self.pauseMilliseconds, using: &state.random)
      watch(index, EPOLL_CTL_DEL, &state)
    }
  }

  /// One that is connected and reads.
  private func anybody(_ state: inout State) -> Int? {
    let connected = state.seats.indices.filter {
      state.seats[$0].link != nil && state.seats[$0].pausedUntil == 0
    }
    return connected.randomElement(using: &state.random)
  }

  private func connect(_ index: Int, _ state: inout State) {
    let follower = state.followers[index]
    state.seats[index].generation &+= 1
    state.seats[index].link = AppLink(
      port: ports[state.seats[index].gateway], path: follower.path, headers: follower.headers,
      isEvents: follower.plan.isEvents, receiveBufferBytes: follower.plan.receiveBufferBytes)
    if state.seats[index].link == nil {
      leave(index, Self.retryMilliseconds, &state)
    } else {
      watch(index, EPOLL_CTL_ADD, &state)
    }
  }

  private func leave(
    _ index: Int, _ delay: ClosedRange<Int64>, _ state: inout State, isHard: Bool = false
  ) {
    state.seats[index].link?.close(isHard: isHard)
    state.seats[index].link = nil
    state.seats[index].generation &+= 1
    state.seats[index].pausedUntil = 0
    state.seats[index].connectsAt =
      MonotonicClock.milliseconds() + Int64.random(in: delay, using: &state.random)
    if Bool.random(using: &state.random) {
      state.seats[index].gateway = (state.seats[index].gateway + 1) % ports.count
    }
  }

  private func watch(_ index: Int, _ operation: Int32, _ state: inout State) {
    guard let link = state.seats[index].link else { return }
    var event = epoll_event()
    event.events = EPOLLIN.rawValue | (link.hasOutput ? EPOLLOUT.rawValue : 0)
    event.data.u64 = UInt64(state.seats[index].generation) << 32 | UInt64(index)
    epoll_ctl(epoll, operation, link.descriptor, &event)
  }
}
