import Candles
import Commits
import Feeds
import Logging
import Market

/// Codes that took the place of others, found by what lists and rows say, or declared ahead
/// (docs/identity.md).
///
/// A code is missing from an accepted list, another one has its first row, and the previous close
/// of the new one is the last close of the old one: where the names agree, too, both are one
/// instrument. What only resembles that is suspected, and joins nothing.
struct CodeChanges: Sendable {
  struct Pair: Hashable {
    var from: Symbol
    var to: Symbol

    init(_ link: InstrumentLink) { (from, to) = (link.from, link.to) }
  }

  /// By the operator, and by the file that candled comes with.
  var declared: [InstrumentLink] = [] {
    didSet { carriedOutOn = nil }
  }
  /// What was found or declared, that which was ended included.
  private(set) var known: [Pair: InstrumentLink] = [:]
  private var ended: Set<Pair> = []
  /// The instruments that had their first row today, or were listed for the first time.
  private var newcomers: Set<Symbol> = []
  private var day: TradingDay?
  /// The day whose declarations are in force.
  private var carriedOutOn: TradingDay?

  /// How long what is suspected is of interest.
  private static let suspectedDaysMax = 30

  /// - Parameter newcomers: of the day on which it goes on.
  init(_ stored: [StoredLink] = [], newcomers: [Symbol] = [], on day: TradingDay? = nil) {
    for row in stored { note(row.link) }
    ended = Set(stored.filter { !$0.stands }.map { Pair($0.link) })
      .subtracting(stored.filter(\.stands).map { Pair($0.link) })
    self.newcomers = Set(newcomers)
    self.day = day
  }

  mutating func note(_ link: InstrumentLink) {
    known[Pair(link)] = link
  }

  /// The code is another instrument's: what was known of it is not of that one.
  mutating func end(_ code: Symbol) {
    ended.formUnion(known.keys.filter { $0.from == code || $0.to == code })
  }

  mutating func begin(_ day: TradingDay) {
    if self.day == day { return }
    self.day = day
    newcomers = []
  }

  mutating func add(_ symbols: [Symbol]) { newcomers.formUnion(symbols) }

  /// Those that wait for somebody to decide.
  func suspected(on day: TradingDay) -> [InstrumentLink] {
    known.values.filter {
      $0.verdict == .suspected && !ended.contains(Pair($0))
        && $0.day > day.advanced(by: -Self.suspectedDaysMax)
    }
  }

  /// What is declared and in force by that day; nil but once a day and declaration.
  mutating func due(on day: TradingDay) -> [InstrumentLink]? {
    if carriedOutOn == day { return nil }
    carriedOutOn = day
    return declared.filter { link in
      link.day <= day && known[Pair(link)]?.isSame(as: link) != true
        && !ended.contains(Pair(link))
    }
  }

  /// One side of a change: an instrument with its last row.
  private struct Side {
    var symbol: Symbol
    var exchange: Exchange?
    var kind: InstrumentKind?
    var name: String
    var quote: Quote

    init?(_ symbol: Symbol, _ row: (quote: Quote, name: String)?) {
      guard let row else { return nil }
      self.symbol = symbol
      exchange = Exchange(prefixOf: symbol.description)
      kind = Instrument.classify(symbol)?.kind
      name = NameMarks.bareName(row.name)
      quote = row.quote
    }

    var close: ExactDecimal { quote.last.isPositive ? quote.last : quote.previousClose }
  }

  /// - Parameters:
  ///   - missing: from the last lists.
  ///   - row: the last one of an instrument, and its name.
  func found(
    among missing: [UniverseMember], row: (Symbol) -> (quote: Quote, name: String)?
  ) -> [InstrumentLink] {
    let olds = missing.map(\.instrument.symbol).compactMap { Side($0, row($0)) }
    let news = newcomers.sorted().compactMap { Side($0, row($0)) }
      .filter { $0.quote.previousClose.isPositive }
    var matches: [Symbol: [InstrumentLink]] = [:]
    for old in olds {
      for new in news
      where old.exchange == new.exchange && old.kind == new.kind && old.symbol != new.symbol
        && old.quote.tradingDay < new.quote.tradingDay
      {
        let isNamed = !new.name.isEmpty && old.name == new.name
        let isPriced = new.quote.previousClose == old.close
        guard isNamed || isPriced else { continue }
        let link = InstrumentLink(
          from: old.symbol, to: new.symbol, day: new.quote.tradingDay,
          verdict: isNamed && isPriced ? .proven : .suspected,
          source: isNamed
            ? isPriced ? "same close and name" : "same name, another close"
            : "same close, another name")
        if known[Pair(link)] == nil { matches[old.symbol, default: []].append(link) }
      }
    }
    // Of several that would be proven none is.
    let proven = matches.values.joined().filter { $0.verdict == .proven }
    let froms = Dictionary(grouping: proven, by: \.from)
    let tos = Dictionary(grouping: proven, by: \.to)
    var found: [InstrumentLink] = []
    for (old, links) in matches.sorted(by: { $0.key < $1.key }) {
      for var link in links {
        let rivals = froms[old, default: []] + tos[link.to, default: []]
        if link.verdict == .suspected, !rivals.isEmpty { continue }
        if rivals.contains(where: { $0 != link }) { link.verdict = .suspected }
        found.append(link)
      }
    }
    return found
  }
}

extension Pipeline {
  /// Takes up what is said of codes: it is in force with the next entry.
  package mutating func declare(_ links: [InstrumentLink]) { codes.declared = links }

  /// Takes up what an entry says of codes, beside its rows.
  mutating func noteCodes(at moment: Timestamp, into digest: inout Digest) {
    let today = moment.shanghaiDay
    codes.begin(today)
    let due = codes.due(on: today)
    if due != nil { countSuspected(on: today) }
    take((due ?? []).filter { isRecorded($0.from) || isRecorded($0.to) }, into: &digest)
    var isListed = false
    for case .listDecided(_, .accepted(let change)) in digest.found {
      isListed = true
      codes.add(change.added.map(\.symbol))
    }
    codes.add(digest.newcomers)
    guard isListed || !digest.newcomers.isEmpty else { return }
    let missing = universe.missing
    if missing.isEmpty { return }
    let found = codes.found(among: missing) { symbol in
      stages[0].row(of: symbol).map { row in
        (row.quote, row.name.isEmpty ? universe.member(symbol)?.instrument.name ?? "" : row.name)
      }
    }
    take(found, into: &digest)
  }

  private mutating func countSuspected(on day: TradingDay) {
    pending.counters.links.suspected = codes.suspected(on: day).count
  }

  private func isRecorded(_ symbol: Symbol) -> Bool {
    universe.member(symbol) != nil || stages[0].book.knownIndex(of: symbol) != nil
  }

  private mutating func take(_ links: [InstrumentLink], into digest: inout Digest) {
    if links.isEmpty { return }
    for link in links {
      codes.note(link)
      pending.counters.links.found[link.verdict, default: 0] += 1
      if link.joins { rename(link.from, to: link.to) }
    }
    pending.commit.reference.links += links
    countSuspected(on: knownAt.shanghaiDay)
    digest.found.append(.universe(universe))
  }

  /// The old code is requested no more, and the new one in its place.
  private mutating func rename(_ old: Symbol, to new: Symbol) {
    universe.rename(old, to: new)
    guard let member = universe.member(new) else { return }
    pending.commit.instruments.append(row(of: member.instrument))
    pending.commit.reference.instrumentMarks.append(
      InstrumentMarks(
        symbol: new, source: .live, missedLists: Int16(member.missedLists),
        listedPart: member.part.name))
  }
}

extension QuoteStage {
  /// The last row of an instrument, and its name; nil where it has none.
  func row(of symbol: Symbol) -> (quote: Quote, name: String)? {
    guard let index = book.knownIndex(of: symbol), let latest = latest[index] else { return nil }
    return (latest.quote, names.name(at: index))
  }

  /// The code is another instrument's: its next row is the first.
  mutating func forget(_ symbol: Symbol) {
    guard let index = book.knownIndex(of: symbol) else { return }
    book.forget(index)
    latest[index] = nil
    former[index] = nil
    lines.forget(index)
  }
}

extension Logger {
  /// One line for a commit, however many codes changed in it.
  func report(_ links: [InstrumentLink]) {
    report(
      links.filter(\.joins), at: .notice, "codes changed: one series goes on under the new code")
    report(
      links.filter { $0.verdict == .suspected }, at: .warning,
      "codes may have changed: see `candled instrument show`, and decide with `candled instrument "
        + "link`")
    report(
      links.filter { !$0.joins && $0.verdict != .suspected }, at: .notice,
      "instruments became others: see `candled instrument show`")
  }

  private func report(_ links: [InstrumentLink], at level: Level, _ sentence: String) {
    if links.isEmpty { return }
    let named = links.prefix(loggedLinksMax).map { "\($0.from) to \($0.to)" }
    log(
      level: level, "\(sentence)",
      metadata: ["count": "\(links.count)", "codes": "\(named.joined(separator: ", "))"])
  }
}

/// How many are named in a line.
private let loggedLinksMax = 10
