import HTTPTypes
import Market
import PaperTrading

/// The triggers of queue purchases, as the API names them: the readings that the app's documents
/// have of "at the limit-up price", none of them silently chosen.
enum QueueTrigger: String, Sendable, CaseIterable {
  case atLimitUp, withinPercentOfLimitUp, sealedForSeconds, queueAtMost, queueWorthAtMost, resealed

  /// Below 30 %, to a tenth: the widest band.
  static let percent = TextPattern(
    "^([12]?[0-9])([.][0-9])?$", expectation: "a percentage below 30 such as \"0.5\"")
  /// Less than an afternoon's session has.
  static let seconds = TextPattern(
    "^(0|[1-9][0-9]{0,3})$", expectation: "a whole number of seconds below 10000")

  /// Of its value; nil where it takes none.
  var pattern: TextPattern? {
    switch self {
    case .atLimitUp, .resealed: nil
    case .withinPercentOfLimitUp: Self.percent
    case .sealedForSeconds: Self.seconds
    case .queueAtMost: .quantity
    case .queueWorthAtMost: .amount
    }
  }

  /// One schema for those that take no value, and one for each other.
  static var schema: Schema {
    let plain = allCases.filter { $0.pattern == nil }.map(\.rawValue)
    return allCases.reduce(.object([.init("kind", .choice(plain))])) { schema, kind in
      guard let pattern = kind.pattern else { return schema }
      return .either(
        schema,
        .object([.init("kind", .choice([kind.rawValue])), .init("value", .matching(pattern))]))
    }
  }

  func trigger(value: String?) throws(Problem) -> QueuePurchase.Trigger {
    guard let pattern else { return self == .resealed ? .resealed : .near(permille: 0) }
    let number = try (value ?? "").decimal("value", pattern)
    switch self {
    case .withinPercentOfLimitUp:
      return .near(permille: (try? number.rescaled(places: 1).units) ?? 0)
    case .sealedForSeconds: return .sealed(seconds: Int32(clamping: number.units))
    case .queueAtMost: return .queueAtMost(number)
    case .queueWorthAtMost: return .queueWorthAtMost(number)
    case .atLimitUp, .resealed: return .resealed
    }
  }
}

/// A trigger as the API names it.
struct NamedTrigger: Sendable {
  let kind: QueueTrigger
  let value: String?

  init(_ trigger: QueuePurchase.Trigger) {
    let (kind, value): (QueueTrigger, String?) =
      switch trigger {
      case .near(0): (.atLimitUp, nil)
      case .near(let permille):
        (.withinPercentOfLimitUp, ExactDecimal(units: permille, scale: 1).description)
      case .sealed(let seconds): (.sealedForSeconds, String(seconds))
      case .queueAtMost(let shares): (.queueAtMost, shares.description)
      case .queueWorthAtMost(let money): (.queueWorthAtMost, money.description)
      case .resealed: (.resealed, nil)
      }
    self.kind = kind
    self.value = value
  }
}

/// The body of a queue purchase.
struct QueuePurchaseBody: Decodable {
  struct Trigger: Decodable {
    var kind: String
    var value: String?
  }

  /// `09:30` to `14:57`, by the exchange's clock.
  struct Window: Decodable {
    var from: String
    var to: String
  }

  var stockSymbol: String
  var quantity: String
  var triggers: [Trigger]
  var window: Window?
  var carriesOver: Bool?

  static let clock = TextPattern(
    "^([01][0-9]|2[0-3]):[0-5][0-9]$", expectation: "a time of the day such as 09:30")

  static let schema = Schema.object([
    .init("stockSymbol", .text(charactersMax: 32)), .init("quantity", .matching(.quantity)),
    .init("triggers", .some(QueueTrigger.schema, countMax: PurchaseTerms.triggersMax)),
    .init(
      "window",
      .nullable(.object([.init("from", .matching(clock)), .init("to", .matching(clock))])),
      isRequired: false),
    .init("carriesOver", .nullable(.boolean), isRequired: false),
  ])

  func terms() throws(Problem) -> PurchaseTerms {
    guard (1...PurchaseTerms.triggersMax).contains(triggers.count) else {
      throw .invalid(
        "triggers", expected: "1 to \(PurchaseTerms.triggersMax) triggers",
        found: "\(triggers.count)")
    }
    var read: [QueuePurchase.Trigger] = []
    for trigger in triggers {
      guard let kind = QueueTrigger(rawValue: trigger.kind) else {
        let kinds = QueueTrigger.allCases.map(\.rawValue).joined(separator: ", ")
        throw .invalid("kind", expected: "one of \(kinds)", found: trigger.kind)
      }
      read.append(try kind.trigger(value: trigger.value))
    }
    return PurchaseTerms(
      triggers: read, window: try window?.seconds(), carriesOver: carriesOver ?? false)
  }
}

extension QueuePurchaseBody.Window {
  fileprivate func seconds() throws(Problem) -> Range<Int32> {
    let (first, last) = (try second(from, of: "from"), try second(to, of: "to"))
    guard first < last else {
      throw Problem(
        .unprocessableContent, code: "window_empty", title: "The window ends before it begins.")
    }
    return first..<last
  }

  private func second(_ text: String, of field: String) throws(Problem) -> Int32 {
    guard QueuePurchaseBody.clock.matches(text) else {
      throw .invalid(field, expected: QueuePurchaseBody.clock.expectation, found: text)
    }
    let parts = text.split(separator: ":").compactMap { Int32($0) }
    return parts[0] * 3_600 + parts[1] * 60
  }
}
