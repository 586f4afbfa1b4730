import AppStore
import Market
import PaperTrading

/// Queue purchases that are armed, or whose order is open. Each row of the feed asks for those of
/// its instrument, so that they are found by it.
struct PurchaseSet: Sendable {
  private var rows: [Int64: PurchaseRow] = [:]
  private var armedOfSymbol: [Symbol: Set<Int64>] = [:]
  private var openOfAccount: [Int64: Set<Int64>] = [:]

  subscript(id: Int64) -> PurchaseRow? {
    get { rows[id] }
    set {
      if let old = rows[id]?.purchase {
        armedOfSymbol.remove(id, of: old.symbol)
        openOfAccount.remove(id, of: old.account)
      }
      rows[id] = newValue
      guard let new = newValue?.purchase else { return }
      openOfAccount[new.account, default: []].insert(id)
      if newValue?.state == .armed { armedOfSymbol[new.symbol, default: []].insert(id) }
    }
  }

  var isEmpty: Bool { rows.isEmpty }

  var accounts: [Int64] { rows.values.map(\.purchase.account) }

  /// Symbols with a purchase that is armed.
  var armedSymbols: some Sequence<Symbol> { armedOfSymbol.keys }

  /// In the order of their arming.
  func armed(on symbol: Symbol) -> [PurchaseRow] {
    (armedOfSymbol[symbol] ?? []).sorted().compactMap { rows[$0] }
  }

  /// In the order of their arming.
  func open(of account: Int64) -> [Int64] { (openOfAccount[account] ?? []).sorted() }

  /// Those of an instrument, in the order of their arming.
  func open(of symbol: Symbol) -> [PurchaseRow] {
    rows.values.filter { $0.purchase.symbol == symbol }.sorted { $0.purchase.id < $1.purchase.id }
  }

  func armedCount(of account: Int64) -> Int {
    (openOfAccount[account] ?? []).count { rows[$0]?.state == .armed }
  }

  func isEmpty(of account: Int64) -> Bool { openOfAccount[account] == nil }

  /// Armed purchases that end with the day.
  func ending(on symbol: Symbol) -> [Int64] {
    armed(on: symbol).filter { !$0.purchase.terms.carriesOver }.map(\.purchase.id)
  }
}

extension Dictionary where Value == Set<Int64> {
  fileprivate mutating func remove(_ id: Int64, of key: Key) {
    self[key]?.remove(id)
    if self[key]?.isEmpty == true { self[key] = nil }
  }
}
