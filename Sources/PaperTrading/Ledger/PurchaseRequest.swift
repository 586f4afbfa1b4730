import Market

/// A queue purchase as it is asked for.
package struct PurchaseRequest: Sendable, Hashable {
  package var symbol: Symbol
  package var quantity: ExactDecimal
  package var terms: PurchaseTerms

  package init(symbol: Symbol, quantity: ExactDecimal, terms: PurchaseTerms) {
    self.symbol = symbol
    self.quantity = quantity
    self.terms = terms
  }

  /// As a command has it.
  var words: [String] {
    ["symbol=\(symbol)", "quantity=\(quantity.normalized)", "when=\(terms.text)"]
  }

  init?(_ values: WordValues) {
    guard let symbol = values["symbol"].flatMap({ Symbol($0) }),
      let quantity = values.decimal("quantity"),
      let terms = values["when"].flatMap({ PurchaseTerms(text: String($0)) })
    else { return nil }
    self.init(symbol: symbol, quantity: quantity, terms: terms)
  }
}

/// When a queue purchase is ordered.
package struct PurchaseTerms: Sendable, Hashable {
  /// Any of them fires it.
  package var triggers: [QueuePurchase.Trigger]
  /// Seconds of the day within which it may fire; nil: all day.
  package var window: Range<Int32>?
  /// Whether it stays armed for the next day.
  package var carriesOver: Bool

  package init(
    triggers: [QueuePurchase.Trigger], window: Range<Int32>? = nil, carriesOver: Bool = false
  ) {
    self.triggers = triggers
    self.window = window
    self.carriesOver = carriesOver
  }

  package static let triggersMax = 8
  private static let permilleMax: Int64 = 300
  private static let daySeconds: Int32 = 86_400

  /// `near:5,sealed:30,window:34200-53100,carries`: without a space.
  package var text: String {
    var parts = triggers.map { trigger in
      switch trigger {
      case .near(let permille): "near:\(permille)"
      case .sealed(let seconds): "sealed:\(seconds)"
      case .queueAtMost(let shares): "queue:\(shares.normalized)"
      case .queueWorthAtMost(let money): "worth:\(money.normalized)"
      case .resealed: "resealed"
      }
    }
    if let window { parts.append("window:\(window.lowerBound)-\(window.upperBound)") }
    if carriesOver { parts.append("carries") }
    return parts.joined(separator: ",")
  }

  /// nil for what names no trigger, too many, or anything unknown.
  package init?(text: String) {
    self.init(triggers: [])
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let words = part.split(separator: ":", omittingEmptySubsequences: false)
      guard read(words.map { String($0) }) else { return nil }
    }
    guard (1...Self.triggersMax).contains(triggers.count) else { return nil }
  }

  private mutating func read(_ words: [String]) -> Bool {
    let value = words.count == 2 ? words[1] : ""
    switch (words.first, words.count) {
    case ("resealed", 1): triggers.append(.resealed)
    case ("carries", 1): carriesOver = true
    case ("near", 2):
      guard let permille = Int64(value), (0...Self.permilleMax).contains(permille) else {
        return false
      }
      triggers.append(.near(permille: permille))
    case ("sealed", 2):
      guard let seconds = Int32(value), (0...Self.daySeconds).contains(seconds) else {
        return false
      }
      triggers.append(.sealed(seconds: seconds))
    case ("queue", 2), ("worth", 2):
      guard let most = try? ExactDecimal(value), most.isPositive else { return false }
      triggers.append(words[0] == "queue" ? .queueAtMost(most) : .queueWorthAtMost(most))
    case ("window", 2):
      let ends = value.split(separator: "-").compactMap { Int32($0) }
      guard ends.count == 2, ends[0] < ends[1], ends[0] >= 0, ends[1] <= Self.daySeconds else {
        return false
      }
      window = ends[0]..<ends[1]
    default: return false
    }
    return true
  }
}
