import AppStore
import Logging
import Market
import PaperTrading
import Platform
import Postgres
import Reader

/// How a broker is run.
package struct BrokerOptions: Sendable {
  /// A libpq URL or keyword string of a member of `candled_app`.
  package var url: String
  /// Who leads, for people: the machine and the process.
  package var holder: String
  /// Instead of the database server's clock, in tests.
  package var clock: (@Sendable () -> Timestamp)?
  /// Instead of the machine's steady one, in microseconds; nil: of `clock`, if there is one.
  package var counter: (@Sendable () -> Int64)?
  /// Rows of the feed that this process follows anyway; nil: all are read from the database.
  package var mailbox: FeedMailbox?
  /// Of a simulated market: then the exchange's clock is the daemon's, not the server's.
  package var followsDaemonClock = false
  /// The commission of orders that are accepted from now on.
  package var schedule = FeeSchedule.standard
  /// Funds that may be sold on the day of their purchase, beside those that are listed.
  package var sameDayFunds: Set<Symbol> = []

  package init(url: String, holder: String, clock: (@Sendable () -> Timestamp)? = nil) {
    self.url = url
    self.holder = holder
    self.clock = clock
  }
}

/// A broker on a thread of its own, for as long as its gateway runs: it leads, or waits until it
/// may. After a failure another broker begins from what is stored, and with the clock that the one
/// before it had.
package final class BrokerService: Sendable {
  private let follower: DatabaseFollower
  private let shown: Locked<BrokerFigures>

  /// With something to watch: cancellations and the close come by the clock.
  private static let clockMilliseconds: Int32 = 1_000

  /// Begins at once.
  /// - Throws: `transient` if the system has no thread to give.
  package init(_ options: BrokerOptions, log: Logger) throws(StoreError) {
    let shown = Locked(BrokerFigures())
    self.shown = shown
    let clock = Locked(ServerClock())
    follower = try DatabaseFollower(
      Broker.context, failure: "paper orders are not executed",
      retryMilliseconds: 1_000...1_000, interrupt: options.mailbox?.interrupt ?? Interrupt(),
      log: log
    ) { (follower) throws(AppStoreError) in
      let broker = Broker(options, clock: clock.withLock { $0 }, log: log)
      defer {
        clock.withLock { $0 = broker.clock }
        broker.drop()
        shown.withLock { $0 = broker.figures }
      }
      while !follower.isStopped {
        try Self.execute(broker, showing: shown, for: follower)
        follower.succeeded()
      }
    }
  }

  /// The thread ends soon, and the lead with it.
  package func stop() { follower.stop() }

  package var figures: BrokerFigures { shown.withLock { $0 } }

  /// One turn.
  private static func execute(
    _ broker: Broker, showing shown: Locked<BrokerFigures>, for follower: DatabaseFollower
  ) throws(AppStoreError) {
    func show() {
      let figures = broker.figures
      shown.withLock { $0 = figures }
    }
    guard try broker.lead() else {
      follower.interrupt.wait(milliseconds: GatewayLease.lookMilliseconds)
      return
    }
    while try broker.look() { show() }
    show()
    // A time-out asks the database nothing. Who takes rows may have cleared what was to stop it.
    while !follower.isStopped,
      try broker.wait(milliseconds: clockMilliseconds, interrupt: follower.interrupt.descriptor)
        == .timeout
    {
      try broker.tick()
      show()
    }
  }
}
