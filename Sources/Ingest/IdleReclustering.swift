import EmbeddedPostgres
import Logging
import Market
import Operations
import Platform
import Polling
import Store

/// Puts closed months of candles in key order while no market trades, on a connection of its own:
/// commits of live quotes never queue behind it.
struct IdleReclustering {
  let reclustering: Reclustering
  let engine: Engine
  let clock: EngineClock

  private static let lookSeconds: UInt64 = 60
  /// The pause after a run: by then another month may have grown, a long dump be over, a disk be
  /// emptied.
  private static let pauseSeconds: UInt64 = 3_600

  /// Runs until cancelled.
  func run() async {
    if clock.isStepped { return }
    let engine = engine
    let mayGoOn = { @Sendable in
      guard !Task.isCancelled else { return false }
      return await engine.isMarketIdle
    }
    var pause = Self.lookSeconds
    while !Task.isCancelled {
      try? await Task.sleep(nanoseconds: pause * 1_000_000_000 / UInt64(clock.speed))
      pause = Self.lookSeconds
      guard await mayGoOn() else { continue }
      do throws(StoreError) {
        try await reclustering.run(
          closedBy: Reclustering.closedBy(await engine.now), mayGoOn: mayGoOn,
          report: { await engine.record($0) })
      } catch {
        await engine.record(.stopped("\(error)"))
      }
      pause = Self.pauseSeconds
    }
  }
}

extension Reclustering {
  /// Repairs reach back so far: what ended by then is closed.
  package static func closedBy(_ now: Timestamp) -> TradingDay {
    MarketZone.utc.day(at: now).advanced(by: -RepairPlan.daysBack)
  }
}

extension Settings {
  /// The folder on the disk of the database, as far as the configuration says.
  package var databaseFolder: String? {
    self[StoreSettings.dataDirectory]
      ?? (self[StoreSettings.url] == nil ? embeddedServer.directory : nil)
  }
}

extension Daemon {
  func idleReclustering(_ engine: Engine) -> IdleReclustering {
    IdleReclustering(
      reclustering: Reclustering(url: storeURL, folder: settings.databaseFolder, gate: gate),
      engine: engine, clock: clock)
  }
}

extension Engine {
  /// The time around a session that is not idle: before it its sources are requested, behind it
  /// come after-hours trades and certificates.
  private static let idleMarginSeconds: Int64 = 1_800
  private static let idleLookSeconds: Int64 = 600

  /// No market whose quotes or bars are requested trades within half an hour of now, and nothing
  /// waits for the store.
  var isMarketIdle: Bool {
    let margin = Self.idleMarginSeconds
    let moments = stride(from: -margin, through: margin, by: Int(Self.idleLookSeconds)).map {
      now.adding(seconds: $0)
    }
    return isInterpreting && status.store.fault == nil
      && !workers.slots.contains { slot in
        !slot.isClosed
          && moments.contains { sourceReport(slot, at: $0).freshness?.isInSession == true }
      }
  }

  func record(_ event: Reclustering.Event) {
    switch event {
    case .left(let months): status.store.monthsLeft = months
    case .moved(let candles): status.store.candlesReclustered += candles
    case .began, .ended:
      commitState.reclusteringFaults = Once()
      parts.log.notice("\(event)")
    case .stopped(let reason):
      if commitState.reclusteringFaults.isNew(reason) { parts.log.warning("\(event)") }
    }
  }
}
