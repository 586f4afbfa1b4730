import AppStore
import Market
import PaperTrading
import Reader

/// What becomes of orders in the market.
extension BrokerState {
  mutating func book(_ event: FillEvent) {
    switch event {
    // Shown, but not certain before the next row.
    case .pending, .dropped: break
    case .booked(let fill): book(fill)
    case .reversed(let fill): reverse(fill)
    case .cancelled(let order, let reason): finish(order, as: .cancelled, reason: reason)
    case .released(let order):
      guard orders[order]?.row.state == .held else { return }
      set(.accepted, of: order)
      addEvent(.released, of: order)
    case .heldAgain(let order):
      guard orders[order]?.row.state == .accepted else { return }
      set(.held, of: order)
      addEvent(.heldAgain, of: order)
    }
  }

  private func moment(of fill: Fill) -> Timestamp {
    Timestamp(day: fill.at.day, secondOfDay: Int(fill.at.secondOfDay))
  }

  /// As of the newest row that it was in the book with; never less than what is booked.
  private func possible(of order: LedgerOrder) -> ExactDecimal? {
    let now = instruments[order.placed.symbol]?.progress(of: order.placed)
    return (now ?? orders[order.id]?.row.progress).map { max($0.possible, order.filled) }
  }

  /// Fills of an order are numbered over all its days.
  private mutating func book(_ fill: Fill) {
    guard let order = orders[fill.order], var ledger = ledgers[order.placed.account] else { return }
    do throws(LedgerRefusal) {
      let filled = try ledger.fill(fill.order, quantity: fill.quantity, price: fill.price)
      ledgers[order.placed.account] = ledger
      let number = order.fills + 1
      orders[fill.order]?.fills = number
      let evidence = fill.evidence.text
      var row = FillRow(
        sequence: number, posting: filled, filledAt: moment(of: fill), evidence: evidence)
      row.possibleSoFar = possible(of: filled.order)
      step.fills.append(row)
      fills[FillKey(order: fill.order, evidence: evidence)] = filled.posting
      let open: OrderState =
        order.row.state == .pendingCancel ? .pendingCancel : .partiallyFilled
      record(
        filled, as: filled.order.isOpen ? open : .filled, event: .fill, at: moment(of: fill))
    } catch {
      complaints.append("a fill of order \(fill.order) is not booked: \(error)")
      withdraw(fill.order, as: .cancelled)
    }
  }

  /// Where shares are sold or money is spent that a reversal needs, the fill stands, with a notice;
  /// then the order takes no more: what it fills would be counted twice.
  private mutating func reverse(_ fill: Fill) {
    let key = FillKey(order: fill.order, evidence: fill.evidence.text)
    guard let posting = fills[key], let order = orders[fill.order],
      var ledger = ledgers[order.placed.account]
    else { return }
    do throws(LedgerRefusal) {
      let reversed = try ledger.reverse(
        posting, ended: order.row.ledger.isOpen ? nil : order.row.ledger)
      ledgers[order.placed.account] = ledger
      fills[key] = nil
      var state = order.row.state
      if state == .partiallyFilled, reversed.order.filled.isZero { state = .accepted }
      record(reversed, as: state, event: .reversed)
    } catch {
      complaints.append("a fill of order \(fill.order) stands without its rows: \(error)")
      addEvent(.kept, of: fill.order, posting: posting.sequence)
      withdraw(fill.order, as: .cancelled)
    }
  }

  /// Takes an order out of the market and ends it at once, pending fills or not.
  mutating func withdraw(_ id: Int64, as state: OrderState, reason: String? = nil) {
    guard let order = orders[id]?.placed else { return }
    if instruments[order.symbol]?.isActive(order) == true {
      takeOut(order)
    }
    finish(id, as: state, reason: reason)
  }

  /// Frees what an order has frozen, if it has not ended.
  mutating func finish(_ id: Int64, as state: OrderState, reason: String? = nil) {
    guard let order = orders[id], order.row.ledger.isOpen,
      var ledger = ledgers[order.placed.account], let ended = try? ledger.end(id)
    else { return }
    ledgers[order.placed.account] = ledger
    record(ended, as: state, event: OrderEventRow.Kind(rawValue: state.name), reason: reason)
  }

  /// Cancels what waits for it, once the exchange takes cancellations and no fill is pending.
  mutating func close(_ ids: some Sequence<Int64>) {
    for id in ids.sorted() {
      guard let order = orders[id]?.placed, let trading = instruments[order.symbol] else {
        continue
      }
      if trading.isActive(order) {
        guard canCancel(order) else { continue }
        takeOut(order)
      }
      if instruments[order.symbol]?.isPending(order) == false { finish(id, as: .cancelled) }
    }
  }

  /// Whether a cancellation takes effect now.
  func canCancel(_ order: Order) -> Bool {
    guard let trading = instruments[order.symbol] else { return true }
    let entered = trading.entry(of: order) ?? moment.secondOfDay
    return TradingPhase.cancellation(
      of: trading.instrument, entered: entered, at: moment) == moment.secondOfDay
  }
}

// MARK: - Rows

extension BrokerState {
  /// Rows of watched instruments, in the order of the feed.
  /// - Parameter isCorrected: whether the daemon took rows of the instrument out.
  mutating func apply(row: FeedRow, isCorrected: Bool) {
    let (symbol, snapshot) = (row.symbol, row.snapshot)
    guard snapshot.stamp.day == day else { return }
    let isPaused = feed.finishRecheck(of: symbol)
    let isContradicted = isPaused && instruments[symbol]?.continues(snapshot) == false
    let isCorrected = isCorrected || isContradicted
    if isCorrected, let first = instruments[symbol]?.firstContradicted(by: snapshot) {
      trade(symbol) { $0.withdraw(from: first) }
    }
    if isRepetition(row.market, of: symbol), !isCorrected { return }
    // One whose fill was pending when the band changed ends once that is decided.
    if instruments[symbol]?.last?.band != row.market.band
      || instruments[symbol]?.isSettled == false
    {
      end(symbol, beyond: row.market.band)
    }
    if instruments[symbol]?.continues(snapshot) ?? true {
      trade(symbol) { $0.accept(row.market) }
      fire(on: row)
    }
    settle(symbol)
  }

  /// The exchange said nothing new: it confirms nothing either.
  private func isRepetition(_ row: MarketRow, of symbol: Symbol) -> Bool {
    guard var last = instruments[symbol]?.last,
      last.snapshot.stamp.secondOfDay == row.snapshot.stamp.secondOfDay
    else { return false }
    last.snapshot.stamp = row.snapshot.stamp
    return last == row
  }

  /// An order of an earlier day may be one that the exchange does not take on this one.
  private mutating func end(_ symbol: Symbol, beyond band: PriceBand?) {
    guard let band else { return }
    for id in (openOrders[symbol] ?? []).sorted() {
      guard let order = orders[id], Self.isBeyond(band, order),
        instruments[symbol]?.isPending(order.placed) != true
      else { continue }
      withdraw(id, as: order.lapsed)
    }
  }

  /// A stop that the whole day is past was passed by no trade: the prices before were of other
  /// shares, before a bonus for example.
  private static func isBeyond(_ band: PriceBand, _ order: PaperOrder) -> Bool {
    let placed = order.placed
    if let limit = placed.limit, !band.contains(limit) { return true }
    guard let stop = placed.stop, order.row.state == .held else { return false }
    return placed.side == .buy ? stop < band.lower : stop > band.upper
  }

  /// The day's totals confirm its last row, if they contain it.
  mutating func certify(_ certified: CertifiedDay) {
    guard let trading = instruments[certified.symbol], !trading.isSettled,
      let last = trading.last?.snapshot, let volume = certified.volume, last.volume <= volume
    else { return }
    trade(certified.symbol) { $0.confirm() }
    settle(certified.symbol)
  }

  /// What waited for a row: cancellations.
  private mutating func settle(_ symbol: Symbol) {
    if !closing.isEmpty { close(closing.intersection(openOrders[symbol] ?? [])) }
  }

  /// Orders what the row and the one before it release, in the order of the purchases.
  private mutating func fire(on row: FeedRow) {
    guard let limitUp = row.market.band?.upper, let trading = instruments[row.symbol] else {
      return
    }
    for purchase in purchases.armed(on: row.symbol) {
      guard trading.orders(purchase.purchase, armedAt: purchase.changedAt) else { continue }
      let order = purchase.purchase.order(id: newest.order + 1, limitUp: limitUp)
      do throws(CommandRefusal) {
        let placed = try judge(order, by: row)
        place(placed, command: nil, purchase: purchase.purchase.id)
        set(.ordered, ofPurchase: purchase.purchase.id, order: orders[order.id])
      } catch {
        // The cage follows the book, and a session begins: it is tried again with each row.
        if error.code == "cage" || error.code == "session" { continue }
        set(.rejected, ofPurchase: purchase.purchase.id, reason: "\(error)")
      }
    }
  }
}
