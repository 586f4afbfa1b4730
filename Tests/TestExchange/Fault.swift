import ExchangeSimulator
import Market

/// Faults on order: what goes wrong, at which upstream, when, for whom and how often.
package struct Fault: Sendable {
  package typealias Upstream = UpstreamName

  package enum Kind: Sendable, Hashable {
    // The whole answer.
    /// 403 `Forbidden`.
    case forbidden
    /// 456 with an HTML page.
    case throttled
    /// 200 with the HTML page of a ban.
    case banPage
    case internalError
    case badGateway
    case emptyBody
    /// `var hq_str_sys_auth="FAILED";`
    case batchFailed
    /// 200 with 4 KiB of noise.
    case garbageBody
    /// A TCP reset instead of an answer. Over a span of time this is an outage.
    case reset
    /// Nothing, until the client gives up.
    case neverResponds
    /// This very answer.
    case response(CannedResponse)
    /// These very bytes.
    case wire(WireScript)

    // The body.
    case slowBody(bytesPerSecond: Int)
    /// The connection closes after that many bytes of a longer body.
    case cutConnection(afterBytes: Int)
    /// The answer of a node that is behind by so much.
    case staleNode(lagSeconds: Int)
    /// A body that ends too early and says so in its length; nil for a drawn place.
    case truncated(atByte: Int?)
    /// The whole body as UTF-8.
    case utf8Names
    /// Only the first so many rows of a list.
    case shortList(rows: Int)
    /// `"bars":null` (Alpaca).
    case nullBars
    /// A page token that asks for the same page again (Alpaca).
    case repeatedToken
    /// A last page that promises one more, each time with a new token (Alpaca).
    case endlessPages

    // Single rows; their neighbours are untouched.
    case emptyLine
    case missingRow
    /// A line that stops behind its totals, without its closing quote.
    case cutLine
    /// A name that is no GB18030. Its numbers are right: the row counts as valid.
    case brokenName
    /// Noise over the first numbers.
    case garbageRow
    case notANumber
    case negative
    case highBelowLow
    case priceTimesThousand
    case volumeTimesThousand
    /// An hour ahead.
    case futureStamp
    /// 09:00:03, on rows that were served with a later stamp before.
    case backwardStamp
    /// The row twice; the first counts.
    case duplicateRow
    /// A bar whose open lies above its high.
    case openAboveHigh
    /// A row of a list whose code and exchange contradict each other.
    case wrongExchange

    var isAboutRows: Bool {
      switch self {
      case .emptyLine, .missingRow, .cutLine, .brokenName, .garbageRow, .notANumber, .negative,
        .highBelowLow, .priceTimesThousand, .volumeTimesThousand, .futureStamp, .backwardStamp,
        .duplicateRow, .openAboveHigh, .wrongExchange:
        true
      default: false
      }
    }
  }

  package var kind: Kind
  package var upstream: Upstream
  /// Simulated time from which it strikes; nil from the beginning.
  package var from: Timestamp?
  /// Simulated time before which it strikes; nil to the end.
  package var to: Timestamp?
  /// Strikes only the next so many answers it would strike; nil without end. Such a fault is not a
  /// function of time: a client that asks again is answered differently.
  package var responsesMax: Int?
  /// An answer is struck if it holds one of these, a row if it is one of these; nil strikes all.
  package var symbols: Set<Symbol>?
  /// Of 1,000 answers, or rows for faults about rows, so many are struck. Drawn from the plan's
  /// seed, the moment and the symbol: the same question at the same moment meets the same fault.
  package var chancePerMille: Int

  package init(
    _ kind: Kind, on upstream: Upstream = .sinaQuotes, from: Timestamp? = nil,
    to: Timestamp? = nil, responsesMax: Int? = nil, symbols: Set<Symbol>? = nil,
    chancePerMille: Int = 1000
  ) {
    self.kind = kind
    self.upstream = upstream
    self.from = from
    self.to = to
    self.responsesMax = responsesMax
    self.symbols = symbols
    self.chancePerMille = chancePerMille
  }

  /// An outage: every connection is reset between two moments.
  package static func silence(
    on upstream: Upstream = .sinaQuotes, from: Timestamp, to: Timestamp
  ) -> Fault {
    Fault(.reset, on: upstream, from: from, to: to)
  }
}

/// The faults of a day, with the seed that decides whom they strike.
package struct FaultPlan: FaultSource {
  package var seed: UInt64
  private var ordered: [Fault] = []

  package init(seed: UInt64 = 1, _ faults: [Fault] = []) {
    self.seed = seed
    ordered = faults
  }

  package mutating func add(_ fault: Fault) { ordered.append(fault) }

  mutating func removeAll() { ordered = [] }

  /// Those about rows still choose among the rows; those with a count use it up.
  package mutating func faults(on upstream: UpstreamName, at moment: Timestamp, symbols: [Symbol]?)
    -> (any ResponseFaults)?
  {
    var active: [ActiveFault] = []
    for place in ordered.indices {
      let fault = ordered[place]
      if fault.upstream != upstream { continue }
      if let from = fault.from, moment < from { continue }
      if let to = fault.to, moment >= to { continue }
      if fault.responsesMax == 0 { continue }
      if let wanted = fault.symbols, !(symbols ?? []).contains(where: wanted.contains) { continue }
      let strike = ActiveFault(
        fault, seed: seed &+ UInt64(place) &* 0x9E37_79B9, at: moment, first: symbols?.first)
      if !fault.kind.isAboutRows, !strike.affectsResponse { continue }
      if let left = fault.responsesMax { ordered[place].responsesMax = left - 1 }
      active.append(strike)
    }
    return active.isEmpty ? nil : ActiveFaults(active, on: upstream)
  }
}

extension SimulatedExchange {
  /// Orders a fault from now on.
  package mutating func order(_ fault: Fault) {
    var plan = faultSource as? FaultPlan ?? FaultPlan()
    plan.add(fault)
    faultSource = plan
  }

  /// Ends all faults on order.
  mutating func cancelFaults() {
    var plan = faultSource as? FaultPlan
    plan?.removeAll()
    faultSource = plan
  }
}

/// A fault about to strike one answer.
struct ActiveFault {
  let kind: Fault.Kind
  private let fault: Fault
  private let seed: UInt64
  private let responseSeed: UInt64

  init(_ fault: Fault, seed: UInt64, at moment: Timestamp, first: Symbol?) {
    kind = fault.kind
    self.fault = fault
    self.seed = Randomness.mixed(seed ^ Randomness.mixed(UInt64(bitPattern: moment.microseconds)))
    responseSeed = Randomness.mixed(self.seed &+ (first?.low ?? 0))
  }

  var affectsResponse: Bool {
    var random = Randomness(seed: responseSeed)
    return random.chance(perMille: Int64(fault.chancePerMille))
  }

  func strikes(_ symbol: Symbol) -> Bool {
    if let wanted = fault.symbols, !wanted.contains(symbol) { return false }
    if fault.chancePerMille >= 1000 { return true }
    var random = Randomness(
      seed: seed ^ Randomness.mixed(symbol.low) &+ Randomness.mixed(symbol.high))
    return random.chance(perMille: Int64(fault.chancePerMille))
  }

  /// Whether it strikes a row of a list or a series, told apart by any number of its own.
  func strikes(row: Int64) -> Bool {
    if fault.chancePerMille >= 1000 { return true }
    var random = Randomness(seed: responseSeed, stream: UInt64(bitPattern: row) &+ 3)
    return random.chance(perMille: Int64(fault.chancePerMille))
  }

  func number(below bound: Int) -> Int {
    var random = Randomness(seed: responseSeed, stream: 1)
    return Int(random.below(Int64(max(bound, 1))))
  }

  func noise(bytes count: Int) -> [UInt8] {
    var random = Randomness(seed: responseSeed, stream: 2)
    return (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next() >> 13) }
  }
}
