import AppStore
import Market
import PaperTrading

/// Derives a ledger again: deposits from their commands, fills from their evidence, fees and
/// balances from both, and compares each with what is stored.
package struct LedgerReplay {
  private let connection: AppConnection
  private let history: LedgerHistory
  private let audit: LedgerAudit

  /// Differences that are told; what follows from one is often the next.
  package static let differencesMax = 100

  package init(_ connection: AppConnection) {
    self.connection = connection
    history = LedgerHistory(connection)
    audit = LedgerAudit(connection)
  }

  /// - Returns: sentences; none of a sound ledger.
  /// - Throws: `store`.
  package func differences() throws(AppStoreError) -> [String] {
    var differences = try audit.findings().map(\.description)
    var actions = try postedActions()
    // What is booked from now on may be missing in accounts that were read before.
    let booked = actions.values.filter(\.isBooked).sorted { $0.id < $1.id }
    for account in try history.accounts() {
      let (orders, postings) = try history.history(of: account)
      let isNewer = postings.contains { posting in
        posting.actionID.map { actions[$0] == nil } ?? posting.isActionReversal
      }
      if isNewer { actions = try postedActions() }
      var replay = AccountReplay(account: account, posted: actions)
      for order in orders { replay.expect(order) }
      for posting in postings { replay.apply(posting) }
      replay.compareOrders()
      replay.require(booked)
      differences += replay.differences
      if differences.count >= Self.differencesMax { break }
    }
    return Array(differences.prefix(Self.differencesMax))
  }

  private func postedActions() throws(AppStoreError) -> [Int64: CorporateAction] {
    try Dictionary(
      uniqueKeysWithValues: CorporateActionTable(connection).all().map { ($0.id, $0) })
  }
}

/// The replay of one account.
private struct AccountReplay {
  let account: Int64
  let posted: [Int64: CorporateAction]
  private(set) var differences: [String] = []
  private var ledger: AccountLedger?
  private var stored: [Int64: HistoryOrder] = [:]
  /// The orders as they are after the postings so far.
  private var orders: [Int64: LedgerOrder] = [:]
  /// Orders whose newest fill was their last: they stay so, taken back or not.
  private var whole: Set<Int64> = []
  private var fills: [Int64: Posting] = [:]
  private var moves = HoldingMoves()
  /// What corporate actions gave and was not taken back, by posting.
  private var given: [Int64: Gift] = [:]
  /// Of codes that this account's orders may still have.
  private let renames: [CorporateAction]

  private enum Gift {
    case amount(ExactDecimal, of: CorporateAction)
    case succession(Succession, of: CorporateAction)

    var action: CorporateAction {
      switch self {
      case .amount(_, let action), .succession(_, let action): action
      }
    }
  }

  init(account: Int64, posted: [Int64: CorporateAction]) {
    self.account = account
    self.posted = posted
    renames = posted.values.filter { $0.terms.kind == .rename && $0.bookedOn != nil }
      .sorted { ($0.exDay, $0.id) < ($1.exDay, $1.id) }
  }

  private mutating func differ(_ sentence: String) {
    differences.append("account \(account): \(sentence)")
  }

  /// An order, which must be what its command asked for.
  mutating func expect(_ order: HistoryOrder) {
    let (id, placed) = (order.ledger.id, order.ledger.placed)
    stored[id] = order
    if let limit = placed.limit, order.ledger.worstPrice != limit {
      differ("order \(id) freezes at another price than its limit")
    }
    guard let body = order.body, case .order(let asked)? = CommandRequest(text: body) else {
      return
    }
    let same = OrderRequest(
      symbol: order.orderedAs, side: placed.side, kind: placed.kind,
      timeInForce: placed.timeInForce, quantity: placed.quantity, limit: placed.limit,
      stop: placed.stop)
    if CommandRequest.order(same).text != CommandRequest.order(asked).text {
      differ("order \(id) is not that of its command")
    }
  }

  mutating func apply(_ posting: HistoryPosting) {
    var ledger = ledger ?? AccountLedger(tradingDay: posting.day)
    do throws(LedgerRefusal) {
      if posting.kind != "settlement", ledger.tradingDay < posting.day,
        try ledger.settle(posting.day) != nil
      {
        differ("posting \(posting.sequence): what was bought before was not settled")
      }
      let known = renames.filter { $0.bookedOn.map { $0 <= posting.day } ?? false }
      follow(known, on: &ledger, before: posting)
      let derived = try derive(posting, on: &ledger)
      if let derived, derived.sequence != posting.sequence || derived.entries != posting.entries {
        differ("posting \(posting.sequence) (\(posting.kind)) has other entries than follow")
      }
      if let derived {
        let isSale = posting.orderID.flatMap { stored[$0] }?.ledger.placed.side == .sell
        moves.add(derived.entries, of: posting, isSale: isSale)
      }
    } catch {
      differ("posting \(posting.sequence) (\(posting.kind)) cannot follow: \(error)")
    }
    self.ledger = ledger
  }

  /// nil where what it follows from is not known; that was told.
  private mutating func derive(
    _ posting: HistoryPosting, on ledger: inout AccountLedger
  ) throws(LedgerRefusal) -> Posting? {
    switch (posting.kind, posting.body.flatMap { CommandRequest(text: $0) }) {
    case ("deposit", .deposit(let amount, let type, _)?):
      return try ledger.deposit(amount, type: type)
    case ("withdrawal", .withdraw(let amount, _)?): return try ledger.withdraw(amount)
    case ("settlement", _): return try ledger.settle(posting.day)
    case ("acceptance", _): return try accept(posting, on: &ledger)
    case ("fill", _): return try fill(posting, on: &ledger)
    case ("end", _): return note(try ledger.end(posting.orderID ?? 0))
    case ("reversal", _) where posting.isActionReversal:
      guard let gift = given.removeValue(forKey: posting.refersTo ?? 0),
        gift.action.withdrawnAt != nil
      else { break }
      return try reverse(gift, of: posting.refersTo ?? 0, on: &ledger)
    case ("reversal", _):
      guard let fill = fills[posting.refersTo ?? 0] else { break }
      let order = orders[posting.orderID ?? 0]
      return note(try ledger.reverse(fill, ended: order?.isOpen == true ? nil : order))
    case ("dividend", _), ("bonus", _):
      guard let action = posting.actionID.flatMap({ posted[$0] }),
        action.terms.kind.rawValue == posting.kind, action.exDay <= posting.day,
        let amount = due(of: action)
      else { break }
      given[posting.sequence] = .amount(amount, of: action)
      return try ledger.book(action.terms.kind, amount: amount, of: action.symbol)
    case ("rename", _), ("merger", _), ("conversion", _):
      if let succeeded = try succeed(posting, on: &ledger) { return succeeded }
    default: break
    }
    differ("posting \(posting.sequence) (\(posting.kind)) has no cause")
    return nil
  }

  private func reverse(
    _ gift: Gift, of sequence: Int64, on ledger: inout AccountLedger
  ) throws(LedgerRefusal) -> Posting {
    switch gift {
    case .amount(let amount, let action):
      try ledger.reverse(
        action.terms.kind, amount: amount, of: action.symbol, posting: sequence)
    case .succession(let succession, let action):
      try ledger.reverse(succession, from: action.symbol, posting: sequence)
    }
  }

  /// - Returns: nil where no action says so.
  private mutating func succeed(
    _ posting: HistoryPosting, on ledger: inout AccountLedger
  ) throws(LedgerRefusal) -> Posting? {
    guard let action = posting.actionID.flatMap({ posted[$0] }),
      action.terms.kind.rawValue == posting.kind, action.exDay <= posting.day,
      let held = try? ledger.held(of: action.symbol),
      let succession = action.terms.succession(of: held)
    else { return nil }
    if posting.cost == nil || posting.cost != (try? moves.cost(of: action.symbol)) {
      differ("posting \(posting.sequence) moves another cost than was paid")
    }
    given[posting.sequence] = .succession(succession, of: action)
    if let cost = posting.cost { moves.pay(cost, by: posting.sequence) }
    let succeeded = try ledger.succeed(
      action.terms.kind, by: succession, from: action.symbol)
    follow(renames.filter { $0.id == action.id }, on: &ledger)
    return succeeded
  }

  /// Orders go on under the new code, once what is held does.
  /// - Parameter posting: the next one: where it is of the old code, they do not yet.
  private mutating func follow(
    _ actions: [CorporateAction], on ledger: inout AccountLedger,
    before posting: HistoryPosting? = nil
  ) {
    for (id, order) in ledger.openOrders {
      var code = order.placed.symbol
      for action in actions where action.symbol == code {
        guard let successor = action.terms.successor, code != stored[id]?.ledger.placed.symbol,
          (try? ledger.held(of: code))?.isZero == true,
          posting?.entries.contains(where: { $0.book.unit == .shares(code) }) != true
        else { continue }
        orders[id] = ledger.rename(order: id, to: successor)
        code = successor
      }
    }
  }

  /// What an action gives for what was held when its ex-day began; nil: nothing.
  private func due(of action: CorporateAction) -> ExactDecimal? {
    (try? moves.held(of: action.symbol, before: action.exDay)).flatMap {
      action.terms.amount(for: $0)
    }
  }

  /// Whether an action that was booked is missing here.
  private func lacks(_ action: CorporateAction) -> Bool {
    guard let successor = action.terms.successor, let bookedOn = action.bookedOn else {
      return due(of: action) != nil
    }
    let isTraded =
      action.terms.kind == .rename || Instrument.classify(successor)?.isTradedOnPaper == true
    guard isTraded, let before = try? moves.held(of: action.symbol, before: bookedOn),
      let now = try? ledger?.held(of: action.symbol)
    else { return false }
    return before.isPositive && now.isPositive
  }

  /// - Parameter booked: actions that were booked, or taken back, before the account was read.
  mutating func require(_ booked: [CorporateAction]) {
    let here = Set(given.values.map(\.action.id))
    for action in booked where !action.failed.contains(account) {
      if action.withdrawnAt != nil {
        if here.contains(action.id) {
          differ("corporate action \(action.id) is not taken back here")
        }
      } else if !here.contains(action.id), posted[action.id]?.withdrawnAt == nil, lacks(action) {
        differ("corporate action \(action.id) is booked, but not here")
      }
    }
  }

  private mutating func note(_ change: OrderPosting) -> Posting {
    orders[change.order.id] = change.order
    return change.posting
  }

  private mutating func accept(
    _ posting: HistoryPosting, on ledger: inout AccountLedger
  ) throws(LedgerRefusal) -> Posting? {
    let id = posting.orderID ?? 0
    guard let order = stored[id] else {
      differ("posting \(posting.sequence): there is no order \(id)")
      return nil
    }
    var first = order.ledger.renamed(to: order.orderedAs)
    first.filled = .zero
    return note(try ledger.accept((orders[id] ?? first).renewed(on: posting.day)))
  }

  private mutating func fill(
    _ posting: HistoryPosting, on ledger: inout AccountLedger
  ) throws(LedgerRefusal) -> Posting? {
    guard let id = posting.orderID, let fill = posting.fill else {
      differ("posting \(posting.sequence) is a fill without one")
      return nil
    }
    guard let evidence = FillEvidence(text: fill.evidence),
      let (quantity, price) = FillRules.derive(evidence)
    else {
      differ("the evidence of posting \(posting.sequence) proves no fill")
      return nil
    }
    if quantity != fill.quantity || price != fill.price {
      differ(
        "posting \(posting.sequence) is a fill of \(fill.quantity) at \(fill.price), and its "
          + "evidence proves \(quantity) at \(price)")
    }
    let booked = try ledger.fill(id, quantity: quantity, price: price)
    if booked.amount != fill.amount || booked.fees != fill.fees {
      differ("posting \(posting.sequence) has another amount or other fees than follow")
    }
    fills[posting.sequence] = booked.posting
    if booked.order.isBuy { moves.pay(booked.amount, by: posting.sequence) }
    if !booked.order.isOpen { whole.insert(id) }
    return note(booked)
  }

  /// Balances are compared by the audit, with their entries.
  mutating func compareOrders() {
    if var ledger {
      follow(renames, on: &ledger)
      self.ledger = ledger
    }
    for (id, row) in stored.sorted(by: { $0.key < $1.key }) {
      guard let derived = orders[id] else {
        differ("order \(id) was never accepted")
        continue
      }
      let kept = row.ledger
      let isSame =
        (kept.filled, kept.turnover, kept.frozen) == (
          derived.filled, derived.turnover, derived.frozen
        )
        && kept.paid == derived.paid && kept.isOpen == derived.isOpen
        && kept.placed.symbol == derived.placed.symbol
      if !isSame { differ("order \(id) stands otherwise than its postings say") }
      if (row.state == .filled) != whole.contains(id) {
        differ("order \(id) is \(row.state.name), and its fills are not")
      }
    }
  }
}
