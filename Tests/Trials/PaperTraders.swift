import AppStore
import Glibc
import Market
import PaperTrading
import Platform
import Postgres
import TestSupport

/// Users of the broker, each on a connection of its own, who trade near the price of the moment. A
/// connection that breaks is made anew, and what was not answered is sent again under its key; now
/// and then so is what was.
final class PaperTraders: Sendable {
  private let url: String
  private let accounts: [Int64]
  private let seed: UInt64
  private let state = Locked(State())

  private struct State {
    var isStopped = false
    var running = 0
    var answers: [Int64: CommandOutcome] = [:]
    var asked = 0
    var complaints: [String] = []
  }

  private static let waitMilliseconds: Int32 = 5_000
  private static let pauseMicrosecondsMax: UInt32 = 100_000
  private static let batchMax = 4

  init(url: String, accounts: [Int64], seed: UInt64) {
    self.url = url
    self.accounts = accounts
    self.seed = seed
  }

  var answered: Int { state.withLock { $0.answers.count } }
  var asked: Int { state.withLock { $0.asked } }
  var complaints: [String] { state.withLock { $0.complaints } }

  /// Each ends with `stop`.
  func start() throws {
    state.withLock { $0.running = accounts.count }
    for (number, account) in accounts.enumerated() {
      try DetachedThread.start(name: "paper trader") { [self] in
        trade(account, random: SplitMix(seed: seed &+ UInt64(number) &* 7919))
        state.withLock { $0.running -= 1 }
      }
    }
  }

  func stop() {
    state.withLock { $0.isStopped = true }
    while state.withLock({ $0.running > 0 }) { usleep(10_000) }
  }

  private var isStopped: Bool { state.withLock { $0.isStopped } }

  private func trade(_ account: Int64, random: SplitMix) {
    var writer = PaperTrade(account: account, random: random)
    var waiting: [KeyedRequest] = []
    while !isStopped {
      // Whatever broke: the server was killed, or is not there again yet.
      try? trade(&writer, &waiting)
      usleep(100_000)
    }
  }

  private func trade(_ writer: inout PaperTrade, _ waiting: inout [KeyedRequest]) throws {
    let connection = try AppConnection(url: url, application: "paper trader")
    let commands = CommandTable(connection)
    try commands.listenForOutcomes()
    while !isStopped {
      if waiting.isEmpty {
        writer.see(try SQLProbe.run(PaperTrade.prices, url: url))
        waiting = (0..<Int.random(in: 1...Self.batchMax, using: &writer.random)).map { _ in
          writer.next()
        }
      }
      let sent = try commands.send(waiting, within: .none)
      let ids = sent.compactMap(\.id)
      if ids.count < waiting.count { complain("a key of our own is in conflict") }
      let outcomes = try commands.wait(for: ids, milliseconds: Self.waitMilliseconds)
      guard outcomes.count == ids.count else { continue }
      for (request, id) in zip(waiting, ids) {
        guard let outcome = outcomes[id] else { continue }
        note(id, outcome)
        writer.remember(request, outcome)
      }
      waiting = []
      usleep(.random(in: 0...Self.pauseMicrosecondsMax, using: &writer.random))
    }
  }

  private func complain(_ text: String) { state.withLock { $0.complaints.append(text) } }

  private func note(_ id: Int64, _ outcome: CommandOutcome) {
    let first = state.withLock { state in
      guard let first = state.answers[id] else {
        state.answers[id] = outcome
        return outcome
      }
      state.asked += 1
      return first
    }
    if first != outcome { complain("command \(id) was answered \(first), then \(outcome)") }
  }

  /// Of what users were told to what the database has now.
  func differences() throws -> [String] {
    let told = state.withLock { $0.answers }
    let now = try CommandTable(AppConnection(url: url, application: "paper trader"))
      .outcomes(of: Array(told.keys))
    return told.compactMap { id, outcome in
      now[id] == outcome ? nil : "command \(id) was answered \(outcome), and has \(now[id] as Any)"
    }
  }
}

/// What one user asks for.
struct PaperTrade {
  let account: Int64
  var random: SplitMix
  private var count = 0
  private var prices: [(symbol: Symbol, last: ExactDecimal)] = []
  private var orders: [(id: Int64, symbol: Symbol)] = []
  /// Armed, so far as is known.
  private var purchases: [Int64] = []
  private var sent: [KeyedRequest] = []

  private static let rememberedMax = 50
  /// Some that have a book, so that several users trade the same: those that are sealed at limit-up
  /// first.
  static let prices = """
    select symbol, last::text
    from candled.latest
    where last is not null and greatest(bid, ask) > 0
    order by coalesce(ask, 0) = 0 desc, symbol
    limit 12
    """

  init(account: Int64, random: SplitMix) {
    self.account = account
    self.random = random
  }

  mutating func see(_ rows: [[String?]]) {
    prices = rows.compactMap { row in
      guard let symbol = row[0].flatMap({ Symbol($0) }),
        let last = row[1].flatMap({ try? ExactDecimal($0) })
      else { return nil }
      return (symbol, last)
    }
  }

  mutating func next() -> KeyedRequest {
    if let old = sent.randomElement(using: &random), number(10) == 0 { return old }
    count += 1
    return KeyedRequest(accountID: account, key: "\(account)-\(count)", request: request())
  }

  mutating func remember(_ request: KeyedRequest, _ outcome: CommandOutcome) {
    if number(10) == 0 { sent = Array((sent + [request]).suffix(Self.rememberedMax)) }
    guard let id = outcome.result.id else { return }
    switch request.request {
    case .order(let order): orders.append((id, order.symbol))
    case .replace(let old, _):
      if let symbol = orders.first(where: { $0.id == old })?.symbol { orders.append((id, symbol)) }
    case .arm: purchases.append(id)
    default: break
    }
    orders = orders.suffix(Self.rememberedMax)
    purchases = purchases.suffix(Self.rememberedMax)
  }

  private mutating func number(_ below: Int) -> Int { Int.random(in: 0..<below, using: &random) }

  private mutating func request() -> CommandRequest {
    let choice = number(100)
    if count == 1 || choice < 5 {
      return .deposit(ExactDecimal(1_000_000), type: .bank, description: "")
    }
    if choice < 8 { return .withdraw(ExactDecimal(Int64(number(1_000) + 1)), description: "") }
    if choice < 18, let order = orders.randomElement(using: &random) {
      return .cancel(order: order.id)
    }
    if choice < 26, let order = orders.randomElement(using: &random) {
      return .replace(order: order.id, change(of: order.symbol))
    }
    // As many as are armed, which would otherwise be all that a user may have open.
    if choice < 32, !purchases.isEmpty {
      return .disarm(purchase: purchases.remove(at: number(purchases.count)))
    }
    guard let (symbol, last) = prices.randomElement(using: &random) else {
      return .deposit(ExactDecimal(1), type: .bank, description: "")
    }
    return choice < 38 ? .arm(purchase(of: symbol)) : .order(order(of: symbol, last: last))
  }

  private mutating func quantity() -> ExactDecimal { ExactDecimal(Int64(100 * (number(20) + 1))) }

  /// Up to 1 % to either side of the last price, in ticks.
  private mutating func price(of symbol: Symbol, near last: ExactDecimal) -> ExactDecimal {
    let thousandths = ExactDecimal(units: Int64(990 + number(21)), scale: 3)
    guard let tick = Instrument.classify(symbol)?.tickSize else { return last }
    return (try? (last * thousandths).divided(by: tick, scale: 0) * tick) ?? last
  }

  private mutating func order(of symbol: Symbol, last: ExactDecimal) -> OrderRequest {
    let kinds: [OrderKind] = [
      .limit, .limit, .limit, .fiveBestThenCancel, .immediateOrCancel, .stop, .stopLimit,
    ]
    let kind = kinds[number(kinds.count)]
    return OrderRequest(
      symbol: symbol, side: number(100) < 65 ? .buy : .sell, kind: kind,
      timeInForce: number(4) == 0 ? .goodTillCancelled : .day, quantity: quantity(),
      limit: kind == .limit || kind == .stopLimit ? price(of: symbol, near: last) : nil,
      stop: kind.isStop ? price(of: symbol, near: last) : nil)
  }

  private mutating func change(of symbol: Symbol) -> OrderChange {
    guard let last = prices.first(where: { $0.symbol == symbol })?.last, number(2) == 0 else {
      return OrderChange(quantity: quantity())
    }
    return OrderChange(limit: price(of: symbol, near: last))
  }

  /// Within 30 % of limit-up is nearly every instrument: then the cage holds it back.
  private mutating func purchase(of symbol: Symbol) -> PurchaseRequest {
    let triggers: [QueuePurchase.Trigger] = [
      .near(permille: 300), .near(permille: 0), .sealed(seconds: 30), .resealed,
      .queueAtMost(ExactDecimal(20_000)),
    ]
    return PurchaseRequest(
      symbol: symbol, quantity: quantity(),
      terms: PurchaseTerms(
        triggers: [triggers[number(triggers.count)]], carriesOver: number(2) == 0))
  }
}
