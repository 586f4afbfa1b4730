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
