import AppStore
import Logging
import Market
import Platform
import Postgres

/// A broker on a thread of its own, for as long as its gateway runs: it leads, or waits until it
/// may.
package final class BrokerService: Sendable {
  private let options: BrokerOptions
  private let log: Logger
  private let stopping = Interrupt()
  private let shown = Locked(BrokerFigures())

  /// While another leads; when its machine is gone, the server ends its session within seconds.
  private static let standbyMilliseconds: Int32 = 2_000
  /// With something to watch: cancellations and the close come by the clock.
  private static let clockMilliseconds: Int32 = 1_000
  private static let retryMilliseconds: Int32 = 1_000

  /// Begins at once.
  /// - Throws: `transient` if the system has no thread to give.
  package init(_ options: BrokerOptions, log: Logger) throws(StoreError) {
    self.options = options
    self.log = log
    do throws(ThreadError) {
      try DetachedThread.start(name: "broker") { self.run() }
    } catch {
      throw StoreError(
        .transient, message: "the system has no thread to give", context: Broker.context)
    }
  }

  /// The thread ends soon, and the lead with it.
  package func stop() { stopping.signal() }

  package var figures: BrokerFigures { shown.withLock { $0 } }

  private func run() {
    let broker = Broker(options, log: log)
    var reported: String?
    while !stopping.isSignalled {
      do throws(AppStoreError) {
        try execute(broker)
        reported = nil
      } catch {
        if reported != error.description {
          log.warning("paper orders are not executed", metadata: ["reason": "\(error)"])
        }
        reported = error.description
        broker.drop()
        show(broker)
        stopping.wait(milliseconds: Self.retryMilliseconds)
      }
    }
    broker.drop()
  }

  private func show(_ broker: Broker) {
    let figures = broker.figures
    shown.withLock { $0 = figures }
  }

  /// One turn.
  private func execute(_ broker: Broker) throws(AppStoreError) {
    guard try broker.lead() else {
      stopping.wait(milliseconds: Self.standbyMilliseconds)
      return
    }
    while try broker.look() { show(broker) }
    show(broker)
    // A time-out asks the database nothing.
    while try broker.wait(
      milliseconds: Self.clockMilliseconds, interrupt: stopping.descriptor) == .timeout
    {
      try broker.tick()
      show(broker)
    }
  }
}
