import AppStore
import Market
import PaperTrading

/// Queue purchases that are armed, or whose order is open. Each row of the feed asks for those of
/// its instrument, so that they are found by it.
struct PurchaseSet: Sendable {
  private var rows: [Int64: PurchaseRow] = [:]
  private var armedOfSymbol: [Symbol: Set<Int64>] = [:]
  private var armedOfAccount: [Int64: Int] = [:]
  private var openOfAccount: [Int64: Int] = [:]

  subscript(id: Int64) -> PurchaseRow? {
    get { rows[id] }
    set {
      count(rows[id], as: -1)
      rows[id] = newValue
      count(newValue, as: 1)
    }
  }

  private mutating func count(_ row: PurchaseRow?, as change: Int) {
    guard let row else { return }
    let (id, symbol, account) = (row.purchase.id, row.purchase.symbol, row.purchase.account)
    openOfAccount[account, default: 0] += change
    if openOfAccount[account] == 0 { openOfAccount[account] = nil }
    guard row.state == .armed else { return }
    armedOfAccount[account, default: 0] += change
    if change > 0 {
      armedOfSymbol[symbol, default: []].insert(id)
      return
    }
    armedOfSymbol[symbol]?.remove(id)
    if armedOfSymbol[symbol]?.isEmpty == true { armedOfSymbol[symbol] = nil }
    if armedOfAccount[account] == 0 { armedOfAccount[account] = nil }
  }

  var isEmpty: Bool { rows.isEmpty }

  var accounts: [Int64] { rows.values.map(\.purchase.account) }

  /// With a purchase that is armed.
  var armedSymbols: some Sequence<Symbol> { armedOfSymbol.keys }

  /// In the order of their arming.
  func armed(on symbol: Symbol) -> [PurchaseRow] {
    (armedOfSymbol[symbol] ?? []).sorted().compactMap { rows[$0] }
  }

  /// In the order of their arming.
  func open(of account: Int64) -> [Int64] {
    rows.values.filter { $0.purchase.account == account }.map(\.purchase.id).sorted()
  }

  func armedCount(of account: Int64) -> Int { armedOfAccount[account] ?? 0 }

  func isEmpty(of account: Int64) -> Bool { openOfAccount[account] == nil }

  /// Those that end with the day.
  func ending(on symbol: Symbol) -> [Int64] {
    armed(on: symbol).filter { !$0.purchase.carriesOver }.map(\.purchase.id)
  }
}
