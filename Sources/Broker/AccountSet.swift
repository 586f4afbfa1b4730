import AppStore

/// Accounts that the broker knows, also by their user: bounds are of all accounts of one.
struct AccountSet: Sendable {
  private var rows: [Int64: BrokerAccount] = [:]
  private var ofUser: [Int64: [Int64]] = [:]

  subscript(id: Int64) -> BrokerAccount? {
    get { rows[id] }
    set {
      if let newValue, rows[id] == nil { ofUser[newValue.userID, default: []].append(id) }
      rows[id] = newValue
    }
  }

  func accounts(ofUser id: Int64) -> [Int64] { ofUser[id] ?? [] }
}
