/// The accepted list of A-share instruments.
///
/// A list is a claim about the whole market, so a bad one does more harm than none: a demo licence
/// answers with 200 rows, a throttled page with nothing, and a reader who believes it delists
/// thousands. So a list is accepted as a whole or not at all, and what is missing from an accepted
/// one is delisted only after three of them in a row. Codes are the keys; names change daily.
///
/// An instrument belongs to the part that listed it last and is missed by that part only: Beijing's
/// list says nothing of Shanghai, and a fallback to Sina's lists delists nothing of Mairui's.

/// One list that is asked for as a whole, as its source declares it.
public struct ListPart: Sendable, Hashable {
  /// What is stored: `hslt`, `bj`, `node/hs_a`.
  public let name: String
  /// The exchanges of which it claims to be all; none where it claims less.
  public let exchanges: [Exchange]

  public init(name: String, allOf exchanges: [Exchange] = []) {
    self.name = name
    self.exchanges = exchanges
  }

  /// It claims to be all of Shanghai and Shenzhen.
  var isWholeMarket: Bool { exchanges.contains(.shanghai) && exchanges.contains(.shenzhen) }
}

/// What a list must reach to be believed.
public struct UniverseLimits: Sendable, Hashable {
  /// Of a list of both main exchanges: there were 5,208 rows in June 2026
  /// (docs/sources/mairui.md#lists).
  public var mainRowsMin = 4_500
  /// Of any other list.
  public var partRowsMin = 1
  /// Of the last accepted list of the same part.
  public var keptPercentMin = 98
  /// Of the rows as they came.
  public var validPercentMin = 99

  public init() {}
}

/// An instrument of the universe, as its `instrument` row keeps it.
public struct UniverseMember: Sendable, Hashable {
  public var instrument: ListedInstrument
  /// The part that listed it last.
  public var part: ListPart
  /// Accepted lists of that part since then, without it.
  public var missedLists: Int

  public init(instrument: ListedInstrument, part: ListPart, missedLists: Int) {
    self.instrument = instrument
    self.part = part
    self.missedLists = missedLists
  }

  public var isDelisted: Bool { missedLists >= Universe.missedListsMax }

  /// Whether a name is its own, marks aside; one that is not known contradicts nothing.
  public func isNamed(_ name: String) -> Bool {
    name.isEmpty || instrument.name.isEmpty
      || NameMarks.bareName(name) == NameMarks.bareName(instrument.name)
  }
}

/// The last accepted list of a part.
public struct AcceptedList: Sendable, Hashable {
  public var part: ListPart
  /// Different symbols.
  public var rows: Int
  public var at: Timestamp

  public init(part: ListPart, rows: Int, at: Timestamp) {
    self.part = part
    self.rows = rows
    self.at = at
  }
}

/// What an accepted list changed, each sorted by symbol.
public struct UniverseChange: Sendable, Hashable {
  /// A new name for an old code.
  public struct Renamed: Sendable, Hashable {
    public var symbol: Symbol
    public var before: String
    public var now: String
  }

  public var added: [ListedInstrument] = []
  public var renamed: [Renamed] = []
  /// Missing for the first or second time.
  public var vanished: [Symbol] = []
  /// Missing for the third time.
  public var delisted: [Symbol] = []
  /// Listed again after that.
  public var relisted: [Symbol] = []
  /// Codes that another instrument has now, by its name.
  public var reused: [Symbol] = []
}

public enum UniverseVerdict: Sendable, Hashable {
  case accepted(UniverseChange)
  /// Not believed, with a sentence that names the figures; nothing changed.
  case quarantined(String)
}

/// The instruments of all parts.
public struct Universe: Sendable {
  public let limits: UniverseLimits
  private(set) var bySymbol: [Symbol: UniverseMember]
  /// By part.
  public private(set) var accepted: [ListPart: AcceptedList]
  /// The codes of today, by those that they took the place of.
  public private(set) var renames: [Symbol: Symbol]
  /// What each of those was before.
  private var former: [Symbol: UniverseMember]

  /// Accepted lists without a code until it is delisted.
  public static let missedListsMax = 3

  /// - Parameters:
  ///   - members: as stored.
  ///   - accepted: the last accepted list of each part, as stored.
  ///   - renames: the new codes, by the old ones.
  public init(
    limits: UniverseLimits = UniverseLimits(), members: [UniverseMember] = [],
    accepted: [AcceptedList] = [], renames: [Symbol: Symbol] = [:]
  ) {
    self.limits = limits
    self.renames = renames
    let all = Dictionary(
      members.map { ($0.instrument.symbol, $0) }, uniquingKeysWith: { _, later in later })
    bySymbol = all.filter { renames[$0.key] == nil }
    former = all.filter { renames[$0.key] != nil }
    self.accepted = Dictionary(
      accepted.map { ($0.part, $0) }, uniquingKeysWith: { $0.at < $1.at ? $1 : $0 })
  }

  /// All that were ever listed, the delisted included, sorted by symbol.
  public var members: [UniverseMember] {
    bySymbol.values.sorted { $0.instrument.symbol < $1.instrument.symbol }
  }

  public func member(_ symbol: Symbol) -> UniverseMember? { bySymbol[symbol] }

  /// Those that the last lists of their parts lacked, and that are not delisted yet.
  public var missing: [UniverseMember] {
    bySymbol.values.filter { $0.missedLists > 0 && !$0.isDelisted }
      .sorted { $0.instrument.symbol < $1.instrument.symbol }
  }

  /// An instrument has another code now: the old one is none of its own any more, and no list that
  /// lacks it counts.
  public mutating func rename(_ old: Symbol, to new: Symbol) {
    renames[old] = new
    guard let member = bySymbol.removeValue(forKey: old) else { return }
    former[old] = member
    if bySymbol[new] != nil { return }
    let renamed = ListedInstrument(
      symbol: new, name: member.instrument.name, exchange: member.instrument.exchange)
    bySymbol[new] = UniverseMember(instrument: renamed, part: member.part, missedLists: 0)
  }

  /// The code of today of what had this one.
  public func living(_ code: Symbol) -> Symbol {
    var code = code
    // A chain of changes has no more links than there are.
    for _ in renames {
      guard let next = renames[code] else { break }
      code = next
    }
    return code
  }

  /// Takes one whole list and believes it or not.
  ///
  /// - Parameters:
  ///   - rows: the valid ones, in any order; of two with the same symbol the later one counts.
  ///   - rejectedRows: how many were not valid.
  public mutating func offer(
    _ rows: [ListedInstrument], rejectedRows: Int, part: ListPart, at now: Timestamp
  ) -> UniverseVerdict {
    let listed = Dictionary(rows.map { ($0.symbol, $0) }, uniquingKeysWith: { _, later in later })
    if let doubt = doubt(listed, validRows: rows.count, rejectedRows: rejectedRows, part: part) {
      return .quarantined(doubt)
    }
    accepted[part] = AcceptedList(part: part, rows: listed.count, at: now)
    var change = UniverseChange()
    for symbol in listed.keys.sorted() {
      if let row = listed[symbol] { list(row, in: part, into: &change) }
    }
    for symbol in bySymbol.keys.sorted() where listed[symbol] == nil {
      miss(symbol, from: part, into: &change)
    }
    return .accepted(change)
  }

  private mutating func list(
    _ row: ListedInstrument, in part: ListPart, into change: inout UniverseChange
  ) {
    var row = row
    if renames[row.symbol] != nil {
      // Lists keep an old code for a while. Under a name that neither code has or had it is another
      // instrument.
      let names = [bySymbol[living(row.symbol)], former[row.symbol]]
      if names[0]?.isNamed(row.name) ?? true || names[1]?.isNamed(row.name) ?? false { return }
      (renames[row.symbol], former[row.symbol]) = (nil, nil)
      change.reused.append(row.symbol)
    } else if let known = bySymbol[row.symbol], known.isDelisted, !known.isNamed(row.name) {
      bySymbol[row.symbol] = nil
      change.reused.append(row.symbol)
    }
    if let known = bySymbol[row.symbol] {
      // A list that lacks a name does not take it away.
      if row.name.isEmpty { row.name = known.instrument.name }
      if known.isDelisted { change.relisted.append(row.symbol) }
      if known.instrument.name != row.name {
        change.renamed.append(
          UniverseChange.Renamed(symbol: row.symbol, before: known.instrument.name, now: row.name))
      }
    } else {
      change.added.append(row)
    }
    bySymbol[row.symbol] = UniverseMember(instrument: row, part: part, missedLists: 0)
  }

  private mutating func miss(
    _ symbol: Symbol, from part: ListPart, into change: inout UniverseChange
  ) {
    guard var member = bySymbol[symbol], member.part == part, !member.isDelisted else { return }
    member.missedLists += 1
    bySymbol[symbol] = member
    if member.isDelisted { change.delisted.append(symbol) } else { change.vanished.append(symbol) }
  }
}
