import AppStore
import Market
import PaperTrading

/// The clock: a day's orders end with it, and the next one begins.
extension BrokerState {
  /// The day's last certificates are written before: then it is over, and orders are for the next.
  private static let dayEndsSecond = 16 * 3600
  /// A fill that nothing has confirmed by then is none: until the next day begins, nobody's orders
  /// are taken.
  private static let confirmedBySecond = 17 * 3600
  /// The price of the close is published before.
  private static let closeGraceSeconds = 300

  /// The day that orders of this moment are for.
  static func day(at now: Timestamp, calendar: TradingCalendar) -> TradingDay {
    let today = now.shanghaiDay
    let known = calendar.supposingWeekdays(through: today.advanced(by: 14))
    if now.shanghaiSecondOfDay < dayEndsSecond, known.isTradingDay(today) == true { return today }
    return known.next(after: today) ?? today.advanced(by: 1)
  }

  /// The next day, if it is time to begin it; or an earlier one, where a wrong clock had begun this
  /// one before its time.
  func dueDay(calendar: TradingCalendar) -> TradingDay? {
    let next = Self.day(at: now, calendar: calendar)
    guard clock.isConfirmed, next != day else { return nil }
    return next < day || mayEnd ? next : nil
  }

  mutating func beginDay(calendar: TradingCalendar) {
    if let next = dueDay(calendar: calendar) { begin(next) }
  }

  /// What time alone brings: cancellations that the exchange takes again, and the close.
  mutating func advance() {
    close(closing)
    expire()
  }

  /// Whether nothing of the day is waited for any more.
  private var mayEnd: Bool {
    if now.shanghaiDay > day || now.shanghaiSecondOfDay >= Self.confirmedBySecond { return true }
    return !openOrders.contains { symbol, ids in
      guard let trading = instruments[symbol] else { return false }
      return ids.contains { id in orders[id].map { trading.isPending($0.placed) } ?? false }
    }
  }

  /// Orders of the day end once the close is past and their fills are confirmed.
  private mutating func expire() {
    guard clock.isConfirmed else { return }
    let second = moment.secondOfDay
    if second < TradingPhase.firstCloseSecond(on: day) + Self.closeGraceSeconds { return }
    for symbol in openOrders.keys.sorted() {
      guard isPastClose(symbol, second: second) else { continue }
      for id in (openOrders[symbol] ?? []).sorted() {
        guard let order = orders[id], order.placed.timeInForce != .goodTillCancelled,
          instruments[symbol]?.isPending(order.placed) != true
        else { continue }
        withdraw(id, as: order.lapsed)
      }
    }
    for symbol in purchases.armedSymbols where isPastClose(symbol, second: second) {
      for id in purchases.ending(on: symbol) { set(.expired, ofPurchase: id) }
    }
  }

  private func isPastClose(_ symbol: Symbol, second: Int) -> Bool {
    guard let instrument = Instrument.classify(symbol),
      let close = TradingPhase.close(of: instrument, on: day)
    else { return false }
    return second >= close + Self.closeGraceSeconds
  }

  /// Ends every order of the day before, settles what was bought, and sends again what lives on:
  /// all orders, where a day begins again.
  private mutating func begin(_ next: TradingDay) {
    let isAgain = next < day
    let open = openOrders.values.flatMap { $0 }.sorted().compactMap { orders[$0] }
    var renewable: [PaperOrder] = []
    for order in open {
      let account = order.placed.account
      guard var ledger = ledgers[account], let ended = try? ledger.end(order.placed.id) else {
        complaints.append("order \(order.placed.id) does not end: its account's books are full")
        continue
      }
      renewable.append(order)
      ledgers[account] = ledger
      orders[order.placed.id]?.row.ledger = ended.order
      post(ended.posting, of: account)
      step.orders[order.placed.id] = orders[order.placed.id]?.row
    }
    RuleBook.begin(next)
    day = next
    step.day = next
    rules.triesFailedActions = true
    (instruments, fills, touched) = ([:], [:], [])
    if isAgain {
      for account in Array(ledgers.keys) { ledgers[account]?.reopen(next) }
    } else {
      settle()
    }
    for order in renewable { renew(order, all: isAgain) }
    for symbol in isAgain ? [] : Array(purchases.armedSymbols) {
      for id in purchases.ending(on: symbol) { set(.expired, ofPurchase: id) }
    }
    orders = orders.filter { $0.value.row.ledger.isOpen }
    countPlaced()
  }

  /// What was bought before the day may be sold on it.
  mutating func settle() {
    for account in ledgers.keys.sorted() {
      guard var ledger = ledgers[account], ledger.tradingDay < day else { continue }
      let posting = try? ledger.settle(day)
      ledgers[account] = ledger
      if let posting { post(posting, of: account) }
    }
  }

  /// An order that lives for days is a new one on each; a stop that was reached stays reached.
  private mutating func renew(_ order: PaperOrder, all: Bool) {
    let (placed, state) = (order.placed, order.row.state)
    let isOver =
      state == .pendingCancel || !all && placed.timeInForce != .goodTillCancelled
    guard !isOver, var ledger = ledgers[placed.account],
      let ended = orders[placed.id]?.row.ledger,
      let accepted = try? ledger.accept(ended.renewed(on: day)),
      let rest = try? placed.quantity - accepted.order.filled,
      let instrument = Instrument.classify(placed.symbol),
      let entry = TradingPhase.entry(
        of: instrument, at: TradingMoment(day: day, secondOfDay: all ? moment.secondOfDay : 0))
    else {
      set(order.lapsed, of: placed.id)
      return addEvent(order.lapsed == .cancelled ? .cancelled : .expired, of: placed.id)
    }
    ledgers[placed.account] = ledger
    record(accepted, as: state, event: nil)
    enter(
      placed, in: state, rest: rest,
      acceptance: Acceptance(entersAt: entry, worstPrice: accepted.order.worstPrice))
  }

  /// Puts what is left of an order into the market of the day.
  mutating func enter(
    _ placed: Order, in state: OrderState, rest: ExactDecimal, acceptance: Acceptance
  ) {
    let isReached = placed.kind.isStop && state != .held
    let isLimit = isReached && placed.kind == .stopLimit
    let sent = Order(
      id: placed.id, account: placed.account, symbol: placed.symbol, side: placed.side,
      kind: isLimit ? .limit : placed.kind, timeInForce: placed.timeInForce,
      quantity: placed.quantity, limit: placed.limit, stop: isLimit ? nil : placed.stop,
      origin: placed.origin)
    enter(
      RestingOrder(
        sent, quantity: rest, acceptance: acceptance, on: day, band: nil, isReleased: isReached))
  }
}
