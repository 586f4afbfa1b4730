import AppStore
import Market
import PaperTrading

/// What the broker knows, with the step that it makes of it. A value: a step takes it, and gives it
/// back once it is stored. So nothing is known that is not stored, and nothing is copied.
struct BrokerState: Sendable {
  var rules: DayRules
  var ledgers: [Int64: AccountLedger] = [:]
  var accounts = AccountSet()
  /// Open orders, and those that ended on the day.
  var orders: [Int64: PaperOrder] = [:]
  var openOrders: [Symbol: Set<Int64>] = [:]
  /// Orders whose cancellation waits for the exchange, or for a row that confirms a fill.
  var closing: Set<Int64> = []
  /// The postings of the day's fills that were not taken back.
  var fills: [FillKey: Posting] = [:]
  var instruments: [Symbol: InstrumentTrading] = [:]
  var purchases = PurchaseSet()
  /// Instruments in which orders have moved since places were written.
  var touched: Set<Symbol> = []
  var newest = Numbers()
  var feed = FeedPlace()
  var clock: Clock
  var step = BrokerStep()
  /// For the log: what should not have happened.
  var complaints: [String] = []

  /// The newest numbers that were given.
  struct Numbers: Sendable {
    var order: Int64 = 0
    var purchase: Int64 = 0
    /// How many orders of the day each user has, with those that lived on from the day before.
    var placed: [Int64: Int] = [:]
  }

  /// The day, and what no code shows of it.
  struct DayRules: Sendable {
    var day: TradingDay
    /// The fees of orders that are accepted from now on: each keeps its own.
    var schedule: FeeSchedule
    /// Corporate actions that failed in accounts are tried once a day, and when one begins to lead.
    var triesFailedActions = true
    /// An operator's list, beside ours: what is bought of them may be sold on the same day.
    var sameDayFunds: Set<Symbol> = []
    /// Codes that ended, and by what.
    var ended: [Symbol: CorporateAction] = [:]

    /// A fund under another code is sold as before.
    mutating func follow(_ succession: CorporateAction) {
      let symbol = succession.symbol
      ended[symbol] = succession
      guard let successor = succession.terms.successor, succession.terms.kind == .rename else {
        return
      }
      let isListed = Instrument.classify(symbol).map {
        RuleBook.current.sellsSameDay($0, on: succession.exDay)
      }
      if isListed == true || sameDayFunds.contains(symbol) {
        sameDayFunds.insert(successor)
      }
    }

    /// Why a code is not traded any more; nil of one that is, again or still.
    /// - Parameter row: the newest of it.
    func end(of symbol: Symbol, row: FeedRow?) -> String? {
      guard let action = ended[symbol] else { return nil }
      if let row, row.snapshot.stamp.day >= action.exDay { return nil }
      return action.terms.sentence(of: symbol)
    }
  }

  struct Clock: Sendable {
    /// The daemon's.
    var now: Timestamp
    /// Whether more than one reading bears it out: else no order ends by it, and no day.
    var isConfirmed = false
    /// Whether it may be another day than the one that orders are for.
    var isDayUncertain = false
  }

  struct FillKey: Hashable, Sendable {
    let order: Int64
    let evidence: String
  }

  static let market = "cn"

  init(day: TradingDay, now: Timestamp, schedule: FeeSchedule) {
    rules = DayRules(day: day, schedule: schedule)
    clock = Clock(now: now)
  }

  var now: Timestamp { clock.now }

  /// Which orders are for; it ends after the last certificate of the day.
  var day: TradingDay {
    get { rules.day }
    set { rules.day = newValue }
  }

  /// On the exchange's clock. Before the day's own morning it is second 0.
  var moment: TradingMoment {
    let today = now.shanghaiDay
    let second = today == day ? now.shanghaiSecondOfDay : today < day ? 0 : Self.daySeconds - 1
    return TradingMoment(day: day, secondOfDay: second)
  }

  private static let daySeconds = 86_400

  /// Whose rows matter: of open orders, armed purchases, and fills that may be taken back. All
  /// instruments of the day are looked at: whoever needs it again keeps it.
  var watched: Set<Symbol> {
    var symbols = Set(openOrders.keys).union(purchases.armedSymbols)
    // Most have open orders: of those no state is looked at, nor copied.
    for symbol in instruments.keys where !symbols.contains(symbol) {
      if instruments[symbol]?.isSettled == false { symbols.insert(symbol) }
    }
    return symbols
  }

  var openCount: Int { openOrders.values.reduce(0) { $0 + $1.count } }
}

/// An order, and the numbers of its fills and events so far.
struct PaperOrder: Sendable {
  var row: OrderRow
  var fills: Int32 = 0
  var events: Int32 = 0

  var placed: Order { row.ledger.placed }
  /// What it is once the exchange keeps it no more.
  var lapsed: OrderState { row.state == .pendingCancel ? .cancelled : .expired }
}

// MARK: - Writing down

extension BrokerState {
  mutating func post(
    _ posting: Posting, of account: Int64, at: Timestamp? = nil, command: Int64? = nil,
    action: Int64? = nil, description: String = "", cost: ExactDecimal? = nil
  ) {
    var row = PostingRow(accountID: account, posting: posting, at: at ?? now)
    row.cost = cost
    (row.commandID, row.corporateActionID, row.description) = (command, action, description)
    step.postings.append(row)
  }

  /// The posting of an order, what the order is then, and the event that users are sent.
  mutating func record(
    _ change: OrderPosting, as state: OrderState, event: OrderEventRow.Kind?,
    at: Timestamp? = nil, reason: String? = nil
  ) {
    post(change.posting, of: change.order.placed.account, at: at)
    orders[change.order.id]?.row.ledger = change.order
    set(state, of: change.order.id)
    if let event {
      addEvent(
        event, of: change.order.id, posting: change.posting.sequence, at: at, reason: reason)
    }
  }

  mutating func set(_ state: OrderState, of id: Int64) {
    guard var order = orders[id] else { return }
    order.row.state = state
    orders[id] = order
    step.orders[id] = order.row
    let symbol = order.placed.symbol
    if state.isTerminal {
      openOrders[symbol]?.remove(id)
      if openOrders[symbol]?.isEmpty == true { openOrders[symbol] = nil }
      closing.remove(id)
      if let purchase = order.row.queuePurchaseID {
        // It ends as its order does; one whose order was replaced is none any more.
        let ended = PurchaseRow.State(rawValue: state.name) ?? .cancelled
        set(ended, ofPurchase: purchase, order: order)
      }
    } else {
      openOrders[symbol, default: []].insert(id)
      if state == .pendingCancel { closing.insert(id) }
    }
  }

  mutating func addEvent(
    _ kind: OrderEventRow.Kind, of id: Int64, posting: Int64? = nil, at: Timestamp? = nil,
    reason: String? = nil
  ) {
    guard var order = orders[id] else { return }
    order.events += 1
    orders[id] = order
    var row = OrderEventRow(orderID: id, sequence: order.events, kind: kind, at: at ?? now)
    row.postingSequence = posting
    step.events.append(row)
    notify(kind, of: order, reason: reason)
  }

  /// - Parameter order: that the purchase has made.
  mutating func set(
    _ state: PurchaseRow.State, ofPurchase id: Int64, order: PaperOrder? = nil,
    reason: String? = nil
  ) {
    guard var row = purchases[id] else { return }
    (row.state, row.reason, row.changedAt) = (state, reason, now)
    purchases[id] = state.isOpen ? row : nil
    step.purchases[id] = row
    notify(row, order: order)
  }

  /// Changes what an instrument's orders are, and books what follows. A symbol of no instrument has
  /// none.
  mutating func trade(_ symbol: Symbol, by change: (inout InstrumentTrading) -> [FillEvent]) {
    if instruments.index(forKey: symbol) == nil {
      instruments[symbol] = Instrument.classify(symbol).map { InstrumentTrading($0) }
    }
    guard let index = instruments.index(forKey: symbol) else { return }
    let events = change(&instruments.values[index])
    if instruments.values[index].isMoved { touched.insert(symbol) }
    for event in events { book(event) }
  }

  mutating func enter(_ order: RestingOrder) {
    trade(order.order.symbol) { trading in
      trading.enter(order)
      return []
    }
  }

  mutating func takeOut(_ order: Order) {
    trade(order.symbol) { trading in
      trading.cancel(order.id, of: order.account)
      return []
    }
  }

  /// Where orders stand that have moved in the step.
  mutating func writePlaces() {
    for symbol in touched.sorted() {
      guard let index = instruments.index(forKey: symbol) else { continue }
      let places = instruments.values[index].takePlaces()
      step.places += places.map { PlaceRow(symbol: symbol, accountID: $0.account, body: $0.body) }
      for id in openOrders[symbol] ?? [] {
        guard let order = orders[id],
          let progress = instruments.values[index].progress(of: order.placed),
          progress.replaces(order.row.progress)
        else { continue }
        orders[id]?.row.progress = progress
        step.progress[id] = progress
      }
    }
    touched = []
  }
}
