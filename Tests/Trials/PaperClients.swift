import AppStore
import Glibc
import Market
import PaperTrading
import Platform
import TestSupport

/// Users of the ledger, all at once: each on a connection of its own, sending random commands in
/// batches and waiting for their outcomes. Some are sent again under the same key, the same or
/// another.
final class PaperClients: Sendable {
  private let url: String
  private let accounts: [Int64]
  private let seed: UInt64
  private let running = Locked(0)
  private let log = Locked(Log())
  private let answers = Locked<Set<String>>([])

  struct Log: Sendable {
    var complaints: [String] = []
    var conflicts = 0
    var resent = 0
    var sent = 0
  }

  private static let batch = 128
  private static let waitMilliseconds: Int32 = 600_000

  init(url: String, accounts: [Int64], seed: UInt64) {
    self.url = url
    self.accounts = accounts
    self.seed = seed
  }

  var isRunning: Bool { running.withLock { $0 > 0 } }
  var found: Log { log.withLock { $0 } }

  /// Each of so many clients sends so many commands to accounts of its own, then ends.
  func start(clients: Int, commandsEach: Int) throws {
    running.withLock { $0 = clients }
    for number in 0..<clients {
      let own = accounts.enumerated().filter { $0.offset % clients == number }.map(\.element)
      try DetachedThread.start(name: "paper client") { [self] in
        defer { running.withLock { $0 -= 1 } }
        do {
          try send(commandsEach, from: number, to: own)
        } catch {
          log.withLock { $0.complaints.append("client \(number): \(error)") }
        }
      }
    }
  }

  private func connect() throws -> AppConnection {
    try AppConnection(url: url, application: "paper client", statementSeconds: 120)
  }

  private func send(_ count: Int, from number: Int, to own: [Int64]) throws {
    let commands = CommandTable(try connect())
    try commands.listenForOutcomes()
    var writer = PaperCommandWriter(
      accounts: own, prefix: "\(number)", random: SplitMix(seed: seed &+ UInt64(number) &* 7919))
    var sent = 0
    while sent < count {
      let batch = (0..<min(Self.batch, count - sent)).map { _ in writer.next() }
      let answers = try commands.send(batch.map(\.request), within: .none)
      sent += batch.count
      let ids = answers.compactMap(\.id)
      let outcomes = try commands.wait(for: ids, milliseconds: Self.waitMilliseconds)
      check(batch, answers, outcomes, of: &writer)
    }
    log.withLock { $0.sent += sent }
  }

  private func check(
    _ batch: [PaperCommandWriter.Next], _ answers: [SentCommand],
    _ outcomes: [Int64: CommandOutcome], of writer: inout PaperCommandWriter
  ) {
    for (next, answer) in zip(batch, answers) {
      switch (answer, next.first) {
      case (.conflict, let first?) where first != next.request.request:
        log.withLock { $0.conflicts += 1 }
      case (.command(let id, _), let first) where first == nil || first == next.request.request:
        guard let outcome = outcomes[id] else {
          log.withLock { $0.complaints.append("no outcome of \(next.request.key)") }
          return
        }
        if !writer.remember(next.request, id: id, outcome: outcome) {
          log.withLock { $0.complaints.append("\(next.request.key) was answered differently") }
        }
        if first != nil { log.withLock { $0.resent += 1 } }
      default:
        log.withLock {
          $0.complaints.append("\(next.request.key): \(answer), first \(next.first as Any)")
        }
      }
    }
  }

  /// Sends the same request under the same key from so many clients at once.
  func sendAtOnce(_ request: KeyedRequest, clients: Int) throws {
    answers.withLock { $0 = [] }
    let (gate, isReady) = (Locked(false), Locked(0))
    running.withLock { $0 = clients }
    for _ in 0..<clients {
      try DetachedThread.start(name: "paper client") { [self] in
        defer { running.withLock { $0 -= 1 } }
        var text = ""
        do {
          let commands = CommandTable(try connect())
          try commands.listenForOutcomes()
          isReady.withLock { $0 += 1 }
          while !gate.withLock({ $0 }) { usleep(100) }
          let id = try commands.send([request], within: .none).first?.id ?? 0
          let outcome = try commands.wait(for: [id], milliseconds: Self.waitMilliseconds)[id]
          text = "\(id) \(outcome as Any)"
        } catch {
          isReady.withLock { $0 += 1 }
          text = "\(error)"
        }
        answers.withLock { _ = $0.insert(text) }
      }
    }
    while isReady.withLock({ $0 }) < clients { usleep(1_000) }
    gate.withLock { $0 = true }
  }

  /// The different answers to what was last sent at once; one is right.
  var answersAtOnce: Set<String> { answers.withLock { $0 } }
}

extension SentCommand {
  var id: Int64? {
    if case .command(let id, _) = self { return id }
    return nil
  }
}

/// Random commands of one client.
struct PaperCommandWriter {
  let accounts: [Int64]
  let prefix: String
  var random: SplitMix

  private var count = 0
  /// By account, orders that were accepted, the newest last.
  private var orders: [Int64: [Int64]] = [:]
  /// Some that were sent, with the first answer.
  private var sent: [(request: KeyedRequest, id: Int64, outcome: CommandOutcome)] = []
  private static let rememberedMax = 200

  struct Next {
    var request: KeyedRequest
    /// Of a key that was used before: what it was used for.
    var first: CommandRequest?
  }

  init(accounts: [Int64], prefix: String, random: SplitMix) {
    self.accounts = accounts
    self.prefix = prefix
    self.random = random
  }

  mutating func next() -> Next {
    if let old = sent.randomElement(using: &random), number(100) < 5 {
      let isSame = number(2) == 0
      var again = old.request
      if !isSame { again.request = makeRequest(of: again.accountID) }
      return Next(request: again, first: old.request.request)
    }
    count += 1
    let account = accounts[number(accounts.count)]
    return Next(
      request: KeyedRequest(
        accountID: account, key: "\(prefix)-\(count)", request: makeRequest(of: account)))
  }

  /// - Returns: false if it was answered before, and differently.
  mutating func remember(_ request: KeyedRequest, id: Int64, outcome: CommandOutcome) -> Bool {
    if let old = sent.first(where: { $0.request.key == request.key }) {
      return old.id == id && old.outcome == outcome
    }
    if number(20) == 0 {
      sent.append((request, id, outcome))
      if sent.count > Self.rememberedMax { sent.removeFirst() }
    }
    if case .done(.order, let order) = outcome.result, case .order = request.request {
      orders[request.accountID, default: []].append(order)
      if (orders[request.accountID]?.count ?? 0) > 20 {
        orders[request.accountID]?.removeFirst()
      }
    }
    return true
  }

  private mutating func number(_ below: Int) -> Int { Int.random(in: 0..<below, using: &random) }

  private mutating func makeRequest(of account: Int64) -> CommandRequest {
    switch number(100) {
    case 0..<14:
      let type = DepositType.allCases[number(DepositType.allCases.count)]
      return .deposit(amount(2_000_000), type: type, description: "零用 \(number(100))%")
    case 14..<20:
      return .withdraw(amount(1_000_000), description: "")
    case 20..<36:
      let own = orders[account] ?? []
      let id = own.randomElement(using: &random) ?? Int64(number(1_000))
      return .cancel(order: number(10) == 0 ? Int64(number(1_000_000)) : id)
    default:
      return .order(order())
    }
  }

  /// Some are none.
  private mutating func amount(_ centsMax: Int) -> ExactDecimal {
    switch number(50) {
    case 0: ExactDecimal(units: Int64(number(3)) - 2, scale: 0)
    case 1: ExactDecimal(units: Int64(number(9)) + 1, scale: 3)
    default: ExactDecimal(units: Int64(number(centsMax)) + 1, scale: UInt8(number(2) + 1))
    }
  }

  private mutating func order() -> OrderRequest {
    let traded = PaperInstrument.all[number(PaperInstrument.all.count)]
    let side: Side = number(100) < 55 ? .buy : .sell
    let isMarket = number(20) == 0
    let price = Int64(number(traded.places == 2 ? 6_000 : 9_000)) + 1
    return OrderRequest(
      symbol: traded.symbol, side: side, kind: isMarket ? .fiveBestThenCancel : .limit,
      timeInForce: number(4) == 0 ? .goodTillCancelled : .day,
      quantity: ExactDecimal(Int64(number(side == .buy ? 600 : 300))),
      limit: isMarket ? nil : ExactDecimal(units: price, scale: traded.places))
  }
}
