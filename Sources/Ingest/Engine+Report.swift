import Market

/// What a view shows of an engine.
public struct EngineReport: Sendable {
  public var now: Timestamp
  public var status: EngineStatus
  public var counters: PipelineCounters
  public var sights: [Sight]
  /// The last minute of each American series, by symbol.
  public var americans: [Candle]

  public struct Sight: Sendable {
    public var name: String
    public var quote: Quote
    public var forming: Candle?
  }
}

extension Engine {
  /// The state of the engine and of some instruments, as of one moment.
  public func report(on symbols: [Symbol]) -> EngineReport {
    EngineReport(
      now: now, status: status, counters: pipeline.counters,
      sights: symbols.compactMap { pipeline.sight(of: $0) },
      americans: pipeline.americanBars.values.sorted { $0.symbol < $1.symbol })
  }
}
