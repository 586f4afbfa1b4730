import Market

/// A purchase that is ordered when an instrument comes to its limit-up price: a limit order at that
/// price, which then waits in the queue.
///
/// Every purchase is looked at with every snapshot, in the order of their ids. A row that shows the
/// trigger makes it a candidate; the instrument's next row orders it, if that shows it as well. So
/// a single false row orders nothing.
package struct QueuePurchase: Sendable, Hashable {
  package enum Trigger: Sendable, Hashable {
    /// The last price is at limit-up, or below it by at most so many thousandths of it.
    case near(permille: Int64)
    /// At limit-up with no ask for so many seconds since it was armed; 0: at once.
    case sealed(seconds: Int32)
    /// Sealed, with at most so many shares in the queue.
    case queueAtMost(ExactDecimal)
    /// Sealed, with at most so much money in the queue.
    case queueWorthAtMost(ExactDecimal)
    /// Sealed again after it had opened.
    case resealed
  }

  package let id: Int64
  package let account: Int64
  package private(set) var symbol: Symbol
  package let quantity: ExactDecimal
  package let terms: PurchaseTerms

  package init(
    id: Int64, account: Int64, symbol: Symbol, quantity: ExactDecimal, terms: PurchaseTerms
  ) {
    self.id = id
    self.account = account
    self.symbol = symbol
    self.quantity = quantity
    self.terms = terms
  }

  package func renamed(to symbol: Symbol) -> QueuePurchase {
    var purchase = self
    purchase.symbol = symbol
    return purchase
  }

  /// Whether the row shows what it waits for, by what the watch has just seen.
  /// - Parameter armedSecond: of the row's day. Nobody may have watched before.
  package func fires(
    on snapshot: Snapshot, limitUp: ExactDecimal, watch: SealWatch, armedSecond: Int32 = 0
  ) -> Bool {
    let second = snapshot.stamp.secondOfDay
    guard snapshot.trading == .normal, snapshot.last.isPositive,
      terms.window.map({ $0.contains(second) }) ?? true
    else { return false }
    return terms.triggers.contains {
      fires($0, on: snapshot, limitUp: limitUp, watch: watch, armedSecond: armedSecond)
    }
  }

  private func fires(
    _ trigger: Trigger, on snapshot: Snapshot, limitUp: ExactDecimal, watch: SealWatch,
    armedSecond: Int32
  ) -> Bool {
    switch trigger {
    case .near(let permille):
      let factor = ExactDecimal(units: 1000 - permille, scale: 3)
      guard let least = try? limitUp * factor else { return false }
      return snapshot.last >= least
    case .sealed(let seconds):
      return watch.sealedSince.map {
        snapshot.stamp.secondOfDay - max($0, armedSecond) >= seconds
      } ?? false
    case .queueAtMost(let shares):
      return watch.isSealed && SealWatch.queue(in: snapshot, at: limitUp) <= shares
    case .queueWorthAtMost(let money):
      let queue = SealWatch.queue(in: snapshot, at: limitUp)
      guard watch.isSealed, let worth = try? queue * limitUp else { return false }
      return worth <= money
    case .resealed:
      return watch.isSealed && watch.hasOpened
    }
  }

  /// The order that it becomes.
  package func order(id: Int64, limitUp: ExactDecimal) -> Order {
    Order(
      id: id, account: account, symbol: symbol, side: .buy, kind: .limit, quantity: quantity,
      limit: limitUp, origin: .queuePurchase)
  }
}

/// Since when an instrument is sealed at its limit-up price, of one day. A seal or an opening that
/// one row alone shows may be false: neither counts for what comes later.
package struct SealWatch: Sendable, Hashable {
  package private(set) var day: TradingDay?
  /// The second of the first snapshot of the current seal.
  package private(set) var sealedSince: Int32?
  /// Whether an earlier seal of the day was opened.
  package private(set) var hasOpened = false
  private(set) var wasSealed = false
  /// Rows in a row that show the same, up to `rowsMin`.
  private(set) var rows = 0

  private static let rowsMin = 2

  package init() {}

  /// As it was stored.
  init(day: TradingDay?, sealedSince: Int32?, hasOpened: Bool, wasSealed: Bool, rows: Int) {
    (self.day, self.sealedSince) = (day, sealedSince)
    (self.hasOpened, self.wasSealed, self.rows) = (hasOpened, wasSealed, rows)
  }

  package var isSealed: Bool { sealedSince != nil }

  package mutating func observe(_ snapshot: Snapshot, limitUp: ExactDecimal) {
    if day != snapshot.stamp.day {
      self = SealWatch()
      day = snapshot.stamp.day
    }
    guard snapshot.trading == .normal else { return }
    let isSealed = Self.isSealed(snapshot, at: limitUp)
    rows = isSealed == self.isSealed ? min(rows + 1, Self.rowsMin) : 1
    sealedSince = isSealed ? sealedSince ?? snapshot.stamp.secondOfDay : nil
    guard rows == Self.rowsMin else { return }
    if isSealed {
      wasSealed = true
    } else if wasSealed {
      hasOpened = true
    }
  }

  /// The last price and the best bid are the limit, and there is no ask.
  static func isSealed(_ snapshot: Snapshot, at limitUp: ExactDecimal) -> Bool {
    snapshot.last == limitUp && snapshot.asks.isEmpty && snapshot.bids.first?.price == limitUp
  }

  static func queue(in snapshot: Snapshot, at limitUp: ExactDecimal) -> ExactDecimal {
    snapshot.bids.first { $0.price == limitUp }?.volume ?? .zero
  }
}
