import Market
import Testing

@testable import Broker

/// The server's clock, by the machine's steady counter.
@Suite struct ServerClockTests {
  private static let noon = Timestamp(day: TradingDay.first(of: 2026), secondOfDay: 43_200)

  @Test func `it goes on from the middle of the question`() {
    var clock = ServerClock()
    #expect(clock.time(at: 5) == nil && clock.isOld(at: 5))
    clock.synchronize(Self.noon, asked: 1_000_000, answered: 1_004_000)
    #expect(clock.time(at: 1_002_000) == Self.noon)
    #expect(clock.time(at: 3_002_000) == Self.noon.adding(seconds: 2))
  }

  @Test func `it is read again after half a minute, and takes what the server says`() {
    var clock = ServerClock()
    clock.synchronize(Self.noon, asked: 0, answered: 0)
    #expect(!clock.isOld(at: 30_000_000) && clock.isOld(at: 30_000_001))
    clock.synchronize(Self.noon, asked: 40_000_000, answered: 40_000_000)
    #expect(clock.time(at: 40_000_000) == Self.noon && !clock.isOld(at: 50_000_000))
  }
}

/// When the clock is believed.
@Suite struct ServerClockWitnessTests {
  private static let noon = Timestamp(day: TradingDay.first(of: 2026), secondOfDay: 43_200)
  private static let second: Int64 = 1_000_000

  private func read(_ clock: inout ServerClock, _ seconds: Int64, at counter: Int64) {
    clock.synchronize(
      Self.noon.adding(seconds: seconds), asked: counter * Self.second,
      answered: counter * Self.second)
  }

  @Test func `a first reading is confirmed by a row, by a change, or by five minutes`() {
    var (byRow, byChange, byTime) = (ServerClock(), ServerClock(), ServerClock())
    read(&byRow, 0, at: 0)
    read(&byChange, 0, at: 0)
    #expect(!byRow.isConfirmed)
    byRow.witness(row: Self.noon.adding(seconds: -3_600), at: 0)
    byChange.witness(change: Self.noon.adding(seconds: 3_600), at: 0)
    #expect(!byRow.isConfirmed && !byChange.isConfirmed)
    byRow.witness(row: Self.noon.adding(seconds: -5), at: 0)
    byChange.witness(change: Self.noon, at: 0)
    #expect(byRow.isConfirmed && byChange.isConfirmed)
    for at in stride(from: Int64(0), to: 300, by: 30) { read(&byTime, at, at: at) }
    #expect(!byTime.isConfirmed)
    read(&byTime, 300, at: 300)
    #expect(byTime.isConfirmed)
  }

  @Test func `while it is set time goes on, and rows of before keep it from being believed`() {
    var clock = ServerClock()
    read(&clock, 0, at: 0)
    clock.witness(row: Self.noon, at: 0)
    for at in stride(from: Int64(30), through: 3_000, by: 30) {
      read(&clock, at + 86_400, at: at)
      clock.witness(row: Self.noon.adding(seconds: at - 3), at: at * Self.second)
      clock.witness(change: Self.noon.adding(seconds: at + 86_400), at: at * Self.second)
      #expect(clock.time(at: at * Self.second) == Self.noon.adding(seconds: at))
    }
    clock.witness(row: Self.noon.adding(seconds: 3_000 + 86_400), at: 3_000 * Self.second)
    let time = clock.time(at: 3_000 * Self.second)
    #expect(time == Self.noon.adding(seconds: 3_000 + 86_400) && clock.isConfirmed)
  }
}
