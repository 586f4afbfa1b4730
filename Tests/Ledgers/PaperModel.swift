/// What accounts on paper must hold, in whole numbers: cents, shares, and prices in thousandths.
///
/// It shares no code with the ledger and does not keep books: it remembers what was paid, held and
/// ordered, and computes what is frozen or free whenever it is asked. Fees are a second
/// implementation.
package struct PaperModel: Sendable {
  package enum Kind: Sendable { case stock, fund, bond }

  package struct Paper: Sendable {
    package let account: Int64
    package let symbol: String
    package let kind: Kind
    package let isBuy: Bool
    package let quantity: Int
    /// In thousandths; nil: a sale at any price.
    package let limit: Int?
    package let isForDays: Bool
    package let isSameDay: Bool
    package var filled = 0
    package var isOpen = true
    /// Quantity × thousandths of what was filled today.
    fileprivate var money = 0
    fileprivate var paid = Charges()

    package init(
      account: Int64, symbol: String, kind: Kind, isBuy: Bool, quantity: Int, limit: Int?,
      isForDays: Bool, isSameDay: Bool
    ) {
      self.account = account
      self.symbol = symbol
      self.kind = kind
      self.isBuy = isBuy
      self.quantity = quantity
      self.limit = limit
      self.isForDays = isForDays
      self.isSameDay = isSameDay
    }
  }

  /// In cents.
  package struct Charges: Sendable, Equatable {
    package var commission = 0
    package var stamp = 0
    package var transfer = 0
    package var sum: Int { commission + stamp + transfer }
  }

  package struct Account: Sendable {
    /// In cents, what open orders hold included.
    package var cash = 0
    package var deposited = 0
    package var withdrawn = 0
    package var income = 0
    package var charges = Charges()
    /// Cents paid for shares, less those got for them.
    package var spent = 0
    /// By symbol, all of them, and those of today that may not be sold.
    package var held: [String: Int] = [:]
    package var new: [String: Int] = [:]
    package var open: Set<Int64> = []

    package init() {}
  }

  package private(set) var accounts: [Int64: Account] = [:]
  package private(set) var orders: [Int64: Paper] = [:]

  package init() {}

  // MARK: Money

  /// - Parameter cents: nil for what is no amount.
  /// - Returns: why not; nil if it was done.
  package mutating func deposit(_ cents: Int?, to account: Int64) -> String? {
    guard let cents, cents > 0 else { return "amount" }
    accounts[account, default: Account()].cash += cents
    accounts[account, default: Account()].deposited += cents
    return nil
  }

  package mutating func withdraw(_ cents: Int?, from account: Int64) -> String? {
    guard let cents, cents > 0 else { return "amount" }
    if available(account) < cents { return "funds" }
    accounts[account, default: Account()].cash -= cents
    accounts[account, default: Account()].withdrawn += cents
    return nil
  }

  package mutating func dividend(_ cents: Int, to account: Int64) {
    accounts[account, default: Account()].cash += cents
    accounts[account, default: Account()].income += cents
  }

  package mutating func bonus(_ shares: Int, of symbol: String, to account: Int64) {
    accounts[account, default: Account()].held[symbol, default: 0] += shares
  }

  /// 0.62 shares for one, half up.
  package mutating func merge(_ symbol: String, into successor: String, of account: Int64) {
    let held = accounts[account]?.held[symbol] ?? 0
    accounts[account]?.held[symbol] = 0
    accounts[account]?.held[successor, default: 0] += (held * 62 + 50) / 100
  }

  // MARK: What is free

  package func frozenCash(_ account: Int64) -> Int {
    accounts[account]?.open.reduce(0) { $0 + worst($1) } ?? 0
  }

  package func available(_ account: Int64) -> Int {
    (accounts[account]?.cash ?? 0) - frozenCash(account)
  }

  package func frozen(_ symbol: String, of account: Int64) -> Int {
    accounts[account]?.open.reduce(0) { sum, id in
      guard let order = orders[id], !order.isBuy, order.symbol == symbol else { return sum }
      return sum + order.quantity - order.filled
    } ?? 0
  }

  package func today(_ symbol: String, of account: Int64) -> Int {
    accounts[account]?.new[symbol] ?? 0
  }

  package func sellable(_ symbol: String, of account: Int64) -> Int {
    (accounts[account]?.held[symbol] ?? 0) - today(symbol, of: account)
      - frozen(symbol, of: account)
  }

  /// What an open buy may still cost: all of the day at the limit, less what the day has cost, but
  /// a cent at least.
  private func worst(_ id: Int64) -> Int {
    guard let order = orders[id], order.isBuy, order.isOpen, let limit = order.limit else {
      return 0
    }
    let most = order.money + (order.quantity - order.filled) * limit
    let left =
      Self.cents(most) + Self.charges(most, order).sum
      - Self.cents(order.money) - Self.charges(order.money, order).sum
    return max(left, 1)
  }

  // MARK: Fees

  /// From thousandths to cents, half up.
  private static func cents(_ thousandths: Int) -> Int { (thousandths + 5) / 10 }

  /// So many millionths of cents, half up.
  private static func share(_ millionths: Int, of cents: Int) -> Int {
    (cents * millionths + 500_000) / 1_000_000
  }

  private static func charges(_ money: Int, _ order: Paper) -> Charges {
    let cents = cents(money)
    if cents == 0 { return Charges() }
    var charges = Charges()
    charges.commission = max(500, share(250, of: cents))
    if order.kind == .stock {
      charges.stamp = order.isBuy ? 0 : share(500, of: cents)
      charges.transfer = share(10, of: cents)
    }
    return charges
  }

  // MARK: Orders

  package mutating func order(_ id: Int64, _ order: Paper) -> String? {
    if order.quantity <= 0 { return "amount" }
    if order.isBuy, order.limit == nil { return "beyond_order" }
    if !order.isBuy, sellable(order.symbol, of: order.account) < order.quantity {
      return "shares"
    }
    orders[id] = order
    if order.isBuy, available(order.account) < worst(id) {
      orders[id] = nil
      return "funds"
    }
    accounts[order.account, default: Account()].open.insert(id)
    return nil
  }

  package mutating func cancel(_ id: Int64, of account: Int64) -> String? {
    guard accounts[account]?.open.contains(id) == true else { return "unknown_order" }
    close(id)
    return nil
  }

  private mutating func close(_ id: Int64) {
    orders[id]?.isOpen = false
    if let account = orders[id]?.account { accounts[account]?.open.remove(id) }
  }

  package mutating func fill(_ id: Int64, quantity: Int, price: Int) {
    guard var order = orders[id], var account = accounts[order.account] else { return }
    let before = Self.cents(order.money)
    order.money += quantity * price
    order.filled += quantity
    let gained = Self.cents(order.money) - before
    let due = Self.charges(order.money, order)
    var paid = due
    if !order.isBuy {
      // A sale pays out of what it brings: the duty, the transfer, and then the broker.
      var purse = gained
      paid = order.paid
      for path in [\Charges.stamp, \Charges.transfer, \Charges.commission] {
        let part = min(purse, due[keyPath: path] - order.paid[keyPath: path])
        paid[keyPath: path] += part
        purse -= part
      }
    }
    book(&order, &account, quantity: quantity, gained: gained, paid: paid)
    orders[id] = order
    accounts[order.account] = account
    if order.filled == order.quantity { close(id) }
  }

  /// - Returns: whether there are the shares, or the money, to do so.
  package mutating func reverse(_ id: Int64, quantity: Int, price: Int) -> Bool {
    guard var order = orders[id], var account = accounts[order.account] else { return false }
    let (oldOrder, oldAccount) = (order, account)
    let before = Self.cents(order.money)
    order.money -= quantity * price
    order.filled -= quantity
    let total = Self.cents(order.money)
    var paid = Self.charges(order.money, order)
    if !order.isBuy {
      paid.stamp = min(paid.stamp, total)
      paid.transfer = min(paid.transfer, total - paid.stamp)
      paid.commission = min(paid.commission, total - paid.stamp - paid.transfer)
    }
    book(&order, &account, quantity: -quantity, gained: total - before, paid: paid)
    orders[id] = order
    accounts[order.account] = account
    let isPossible =
      available(order.account) >= 0 && sellable(order.symbol, of: order.account) >= 0
      && today(order.symbol, of: order.account) >= 0
    if !isPossible {
      orders[id] = oldOrder
      accounts[order.account] = oldAccount
    }
    return isPossible
  }

  private func book(
    _ order: inout Paper, _ account: inout Account, quantity: Int, gained: Int, paid: Charges
  ) {
    let sign = order.isBuy ? 1 : -1
    account.held[order.symbol, default: 0] += sign * quantity
    if order.isBuy, !order.isSameDay { account.new[order.symbol, default: 0] += quantity }
    account.spent += sign * gained
    account.cash -= sign * gained + paid.sum - order.paid.sum
    account.charges.commission += paid.commission - order.paid.commission
    account.charges.stamp += paid.stamp - order.paid.stamp
    account.charges.transfer += paid.transfer - order.paid.transfer
    order.paid = paid
  }

  // MARK: Days

  /// All orders end; what was bought may be sold; those for days are ordered again.
  /// - Returns: those that go on.
  package mutating func beginDay(of account: Int64) -> Set<Int64> {
    let open = (accounts[account]?.open ?? []).sorted()
    for id in open { close(id) }
    accounts[account]?.new = [:]
    var renewed: Set<Int64> = []
    for id in open {
      guard var order = orders[id], order.isForDays else { continue }
      (order.money, order.paid, order.isOpen) = (0, Charges(), true)
      orders[id] = order
      let isPossible =
        order.isBuy
        ? available(account) >= worst(id)
        : sellable(order.symbol, of: account) >= order.quantity - order.filled
      orders[id]?.isOpen = isPossible
      if isPossible {
        accounts[account]?.open.insert(id)
        renewed.insert(id)
      }
    }
    return renewed
  }
}
