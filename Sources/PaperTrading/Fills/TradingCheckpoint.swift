import Market

/// All that `InstrumentTrading` keeps, as lines of words: who has it goes on with the inputs behind
/// it, as if all inputs before had been applied.
///
///     seal model=2 opened=false sealed=true rows=2 day=2026-07-06 since=34203
///     row at=…
///     account id=7 confirmed=true numbers=12:1 buys=10.02:500
///     base at=…
///     order order=12 … stage=queued filled=300 own=500 front=200 …
///     step row=118 fills=2
///     step cancel=12
extension InstrumentTrading {
  package var checkpoint: String {
    var lines = [Self.opening + settledSeal.words.joined(separator: " ")]
    lines += kept.map { "row \($0.row.text)" }
    for (id, orders) in accounts.sorted(by: { $0.key < $1.key }) {
      lines += orders.checkpoint(of: id)
    }
    return lines.joined(separator: "\n")
  }

  private static let opening = "seal model=\(FillModel.version) "

  /// Whether the fill model of this version wrote it: what another one had in mind means nothing
  /// here.
  package static func isCurrent(checkpoint: String) -> Bool { checkpoint.hasPrefix(opening) }

  /// nil for what is no checkpoint of this model, whole.
  package init?(_ instrument: Instrument, checkpoint: String) {
    var reader = CheckpointReader(checkpoint)
    guard Self.isCurrent(checkpoint: checkpoint), let (_, seal) = reader.next(),
      let settledSeal = SealWatch(seal),
      let rows = reader.all("row", MarketRow.init)
    else { return nil }
    let snapshots = Dictionary(
      rows.map { ($0.snapshot.stamp.sequence, $0.snapshot) }, uniquingKeysWith: { $1 })
    var accounts: [Int64: AccountOrders] = [:]
    while let (kind, values) = reader.next() {
      guard kind == "account", let id: Int64 = values.integer("id"),
        let orders = AccountOrders(instrument, values, rows: snapshots, from: &reader)
      else { return nil }
      accounts[id] = orders
    }
    if reader.isMalformed { return nil }
    self.init(instrument, settledSeal: settledSeal, rows: rows, accounts: accounts)
  }
}

/// Lines in order, each a kind and its words.
private struct CheckpointReader {
  private var lines: ArraySlice<Substring>
  private(set) var isMalformed = false

  init(_ text: String) { lines = text.split(separator: "\n")[...] }

  /// nil behind the last line, and at one that is malformed.
  mutating func next() -> (kind: Substring, values: WordValues)? {
    guard let line = lines.first else { return nil }
    let words = line.split(separator: " ")
    guard let kind = words.first, let values = WordValues(words.dropFirst()) else {
      isMalformed = true
      return nil
    }
    lines.removeFirst()
    return (kind, values)
  }

  /// The lines of a kind that come next; nil where one is malformed.
  mutating func all<Value>(_ kind: Substring, _ decode: (WordValues) -> Value?) -> [Value]? {
    var values: [Value] = []
    while lines.first?.prefix(while: { $0 != " " }) == kind {
      guard let value = next().flatMap({ decode($0.values) }) else { return nil }
      values.append(value)
    }
    return values
  }
}

// MARK: - Orders of an account

extension AccountOrders {
  fileprivate func checkpoint(of id: Int64) -> [String] {
    var words = ["account id=\(id)", "confirmed=\(isConfirmed)"]
    if !ended.isEmpty {
      words.append("ended=" + ended.sorted().map { "\($0)" }.joined(separator: ","))
    }
    if !sequences.isEmpty {
      let numbers = sequences.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }
      words.append("numbers=" + numbers.joined(separator: ","))
    }
    for (name, side) in Self.takers {
      guard let prices = base.takings.volumes[side] else { continue }
      let volumes = prices.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }
      words.append("\(name)=" + volumes.joined(separator: ","))
    }
    var lines = [words.joined(separator: " ")]
    if let last = base.last { lines.append("base \(MarketRow(last, band: nil).text)") }
    lines += base.orders.map { "order \($0.text) \($0.place)" }
    return lines + kept.map(\.line)
  }

  private static let takers: [(name: Substring, side: Side)] = [("buys", .buy), ("sells", .sell)]

  fileprivate init?(
    _ instrument: Instrument, _ values: WordValues, rows: [Int64: Snapshot],
    from reader: inout CheckpointReader
  ) {
    guard let isConfirmed = values["confirmed"].flatMap({ Bool(String($0)) }),
      let last = reader.all("base", MarketRow.init), last.count < 2,
      let orders = reader.all("order", RestingOrder.init(placed:)),
      let steps = reader.all("step", { Entry.step($0, rows: rows) })
    else { return nil }
    var takings: [Side: [ExactDecimal: Int64]] = [:]
    for (name, side) in Self.takers {
      guard let words = values[name] else { continue }
      guard let levels = MarketRow.levels(words) else { return nil }
      takings[side] = Dictionary(
        levels.map { ($0.price, $0.volume.wholeShares) }, uniquingKeysWith: { $1 })
    }
    let ended = (values["ended"] ?? "").split(separator: ",").compactMap { Int64($0) }
    var sequences: [Int64: Int32] = [:]
    for pair in (values["numbers"] ?? "").split(separator: ",") {
      let numbers = pair.split(separator: ":").compactMap { Int64($0) }
      guard numbers.count == 2 else { return nil }
      sequences[numbers[0]] = Int32(clamping: numbers[1])
    }
    self.init(
      base: AccountInBook(
        instrument, orders: orders, last: last.first?.snapshot,
        takings: Takings(volumes: takings)),
      steps: steps, isConfirmed: isConfirmed, ended: Set(ended), sequences: sequences)
  }
}

extension AccountOrders.Entry {
  fileprivate var line: String {
    switch step {
    case .order(let order): return "step \(order.text)"
    case .cancellation(let id): return "step cancel=\(id)"
    case .row(let row):
      let fills = events.compactMap { event in
        if case .booked(let fill) = event { "\(fill.sequence)" } else { nil }
      }
      let words = fills.isEmpty ? "" : " fills=" + fills.joined(separator: ",")
      return "step row=\(row.stamp.sequence)\(words)"
    }
  }

  fileprivate static func step(
    _ values: WordValues, rows: [Int64: Snapshot]
  ) -> (step: AccountInBook.Step, fills: [Int32])? {
    let fills = (values["fills"] ?? "").split(separator: ",").compactMap { Int32($0) }
    if let id: Int64 = values.integer("cancel") { return (.cancellation(id), []) }
    if let row: Int64 = values.integer("row") { return rows[row].map { (.row($0), fills) } }
    return RestingOrder(values).map { (.order($0), []) }
  }
}

extension RestingOrder {
  /// How far it has come.
  fileprivate var place: String {
    let words = ["filled_today=\(filled)"]
    switch stage {
    case .untriggered: return (words + ["stage=untriggered"]).joined(separator: " ")
    case .waiting: return (words + ["stage=waiting"]).joined(separator: " ")
    case .done: return (words + ["stage=done"]).joined(separator: " ")
    case .queued(let queue):
      return (words + ["stage=queued"] + queue.words).joined(separator: " ")
    }
  }

  fileprivate init?(placed values: WordValues) {
    guard var order = RestingOrder(values), let filled: Int64 = values.integer("filled_today"),
      let stage = values["stage"]
    else { return nil }
    order.filled = filled
    switch stage {
    case "untriggered": order.stage = .untriggered
    case "waiting": order.stage = .waiting
    case "done": order.stage = .done
    case "queued":
      guard let queue = Queue(values) else { return nil }
      order.stage = .queued(queue)
    default: return nil
    }
    self = order
  }
}

extension Queue {
  fileprivate var words: [String] {
    var words = [
      "at=\(limit)", "at_limit=\(isAtLimit)", "own=\(own)", "filled=\(filled)",
      "counted=\(counted)", "yields=\(ownSharesAhead)", "possible=\(possibleVolume)",
    ]
    if let front { words.append("front=\(front)") }
    return words
  }

  fileprivate init?(_ values: WordValues) {
    guard let limit = values.decimal("at"),
      let isAtLimit = values["at_limit"].flatMap({ Bool(String($0)) }),
      let own: Int64 = values.integer("own"), let filled: Int64 = values.integer("filled"),
      let counted: Int64 = values.integer("counted"),
      let ownSharesAhead: Int64 = values.integer("yields"),
      let possible: Int64 = values.integer("possible")
    else { return nil }
    self.init(
      limit: limit, isAtLimit: isAtLimit, own: own, filled: filled,
      front: values.integer("front"), counted: counted,
      ownSharesAhead: ownSharesAhead, possibleVolume: possible)
  }
}
