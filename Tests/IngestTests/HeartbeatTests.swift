import Ingest
import Market
import Operations
import Testing

@Suite struct EngineHeartbeatTests {
  @Test func `an engine with nothing to do turns all the same`() async throws {
    let (beats, beat) = AsyncStream.makeStream(of: Void.self)
    var run = try EngineRun()
    // In the night: no slot is due, no minute ends.
    run.start = 2 * 3600
    run.speed = 1
    run.limits.loopMillisecondsMax = 5
    run.heartbeat = Heartbeat(name: "engine", ageSecondsMax: 30) {
      beat.yield()
      return 0
    }
    let engine = try run.engine(MemorySink())
    async let unsaved = engine.run()
    var seen = 0
    for await _ in beats {
      seen += 1
      if seen == 50 { break }
    }
    engine.stop()
    #expect(try await unsaved.isNone)
  }
}
