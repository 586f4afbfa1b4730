/// Which series there are, and how people name them: by any spelling, by the beginning of a code,
/// by name, by the initials of its pinyin.
///
/// A value that is never changed once it is published. A series keeps its place for as long as the
/// process runs, also when another database is followed.

import Foundation
import Market
import Operations
import Reader

package struct InstrumentDirectory: Sendable {
  /// By place.
  package private(set) var series: [SeriesRecord] = []
  private var identities: [SeriesIdentity] = []
  private var searchTexts: [SearchText] = []
  /// Whether the database has it now.
  private var isListed: [Bool] = []
  private var placesByKey: [SeriesKey: SeriesPlace] = [:]
  /// Of the series of one symbol, the one first that is meant if no source is named.
  private var placesBySymbol: [Symbol: [SeriesPlace]] = [:]

  package init() {}

  /// With what the database has now; places stay.
  package func updated(with records: [SeriesRecord]) -> InstrumentDirectory {
    var next = self
    next.isListed = [Bool](repeating: false, count: series.count)
    for record in records { next.insert(record) }
    for (symbol, places) in next.placesBySymbol where places.count > 1 {
      next.placesBySymbol[symbol] = places.sorted { next.precedes($0, $1) }
    }
    return next
  }

  private mutating func insert(_ record: SeriesRecord) {
    let key = SeriesKey(symbol: record.symbol, source: record.source)
    guard let place = placesByKey[key] else {
      let place = SeriesPlace(index: series.count)
      series.append(record)
      identities.append(SeriesIdentity(record, name: record.name))
      searchTexts.append(SearchText(record))
      isListed.append(true)
      placesByKey[key] = place
      placesBySymbol[record.symbol, default: []].append(place)
      return
    }
    if series[place.index].name != record.name { searchTexts[place.index] = SearchText(record) }
    if series[place.index] != record {
      identities[place.index] = SeriesIdentity(record, name: record.name)
    }
    series[place.index] = record
    isListed[place.index] = true
  }

  private func precedes(_ one: SeriesPlace, _ other: SeriesPlace) -> Bool {
    let (left, right) = (series[one.index], series[other.index])
    return (left.priority, left.source.rawValue) < (right.priority, right.source.rawValue)
  }

  // MARK: Exactly one

  package subscript(_ place: SeriesPlace) -> SeriesRecord { series[place.index] }

  /// - Parameter name: as the quote has it, which may be newer.
  package func identity(of place: SeriesPlace, named name: String?) -> SeriesIdentity {
    let known = identities[place.index]
    return known.name == name ? known : SeriesIdentity(self[place], name: name)
  }

  package func place(of symbol: Symbol, source: Source) -> SeriesPlace? {
    placesByKey[SeriesKey(symbol: symbol, source: source)]
  }

  /// The series of a symbol, the one first that is meant where no source is named.
  func places(of symbol: Symbol) -> [SeriesPlace] { placesBySymbol[symbol] ?? [] }

  /// The series of this very code, also where its instrument has another one today.
  func place(ofCode symbol: Symbol) -> SeriesPlace? {
    places(of: symbol).first { isListed[$0.index] }
  }

  /// The series that a candle is of.
  func place(of candle: Candle) -> SeriesPlace? {
    place(of: candle.symbol, source: candle.source) ?? meant(by: candle.symbol)
  }

  /// The series that is meant where no source is named.
  func meant(by symbol: Symbol) -> SeriesPlace? {
    (placesBySymbol[symbol]?.first { isListed[$0.index] }).map(current)
  }

  /// An old code answers with the one of today.
  private func current(_ place: SeriesPlace) -> SeriesPlace {
    let known = series[place.index]
    guard let today = known.today else { return place }
    return self.place(of: today, source: known.source) ?? place
  }

  /// The series of any spelling that the database's `instrument_id()` takes, and of a bare code
  /// where only one exchange has it; nil if unknown.
  /// - Parameter source: its name; nil for the one that is meant if none is named.
  package func place(spelling: String, source: String? = nil) -> SeriesPlace? {
    func listed(_ symbol: Symbol?) -> SeriesPlace? {
      let place = symbol.flatMap { placesBySymbol[$0] }?.first {
        isListed[$0.index] && (source == nil || series[$0.index].sourceName == source)
      }
      return place.map(current)
    }
    guard spelling.utf8.count <= Symbol.bytesMax else { return nil }
    return listed(Symbol(anySpelling: Self.withKnownSuffix(spelling)))
      ?? listed(Symbol(spelling.uppercased())) ?? listed(Symbol(spelling))
  }

  /// Suffixes that `instrument_id()` takes beside those of `Symbol(anySpelling:)`.
  private static let suffixes = ["SS": "SH", "XSHG": "SH", "XSHE": "SZ"]

  private static func withKnownSuffix(_ text: String) -> String {
    guard let dot = text.lastIndex(of: "."),
      let known = suffixes[text[text.index(after: dot)...].uppercased()]
    else { return text }
    return text[...dot] + known
  }

  /// The names of sources that have series.
  package var sourceNames: [String] { Set(series.map(\.sourceName)).sorted() }

  // MARK: Several

  /// Series whose code or symbol begins with `text`, whose name contains it, or whose name's
  /// initials in pinyin begin with it, by any reading; in this order, then by symbol.
  package func search(_ text: String, limit: Int = .max) -> [SeriesPlace] {
    let wanted = SearchText.folded(text)
    guard !wanted.isEmpty else { return [] }
    let scored = searchTexts.indices.compactMap { index -> (rank: Int, place: SeriesPlace)? in
      guard isListed[index], let rank = searchTexts[index].rank(of: wanted) else { return nil }
      return (rank, SeriesPlace(index: index))
    }
    var found: Set<Int> = []
    return
      scored.sorted {
        ($0.rank, series[$0.place.index].symbol) < ($1.rank, series[$1.place.index].symbol)
      }
      .map { current($0.place) }.filter { found.insert($0.index).inserted }
      .prefix(limit).map(\.self)
  }

  /// Known symbols that somebody may have meant, the nearest first.
  package func nearest(to spelling: String, count: Int = 3) -> [String] {
    let wanted = String(spelling.lowercased().prefix(Symbol.bytesMax))
    let bound = max(2, wanted.utf8.count / 3)
    let scored = placesBySymbol.compactMap { symbol, places -> (distance: Int, text: String)? in
      guard places.contains(where: { isListed[$0.index] }) else { return nil }
      let text = symbol.description
      let distance = editDistance(wanted, to: text.lowercased())
      return distance <= bound ? (distance, text) : nil
    }
    return scored.sorted { $0 < $1 }.prefix(count).map(\.text)
  }

  /// Every listed series, by place.
  package var places: [SeriesPlace] {
    series.indices.filter { isListed[$0] }.map(SeriesPlace.init(index:))
  }
}

private struct SeriesKey: Hashable, Sendable {
  let symbol: Symbol
  let source: Source
}

/// What a series is found by.
private struct SearchText: Sendable {
  let symbol: String
  /// The symbol without the prefix of its exchange.
  let code: String
  let name: String
  let initials: PinyinInitials

  init(_ record: SeriesRecord) {
    symbol = record.symbol.description.lowercased()
    let prefix = Instrument.classify(record.symbol)?.exchange.prefix ?? ""
    code = String(symbol.dropFirst(prefix.count))
    name = Self.folded(record.name ?? "")
    initials = PinyinInitials(of: name)
  }

  /// 0 for the best reason why it is found; nil if it is not.
  func rank(of wanted: String) -> Int? {
    if code.hasPrefix(wanted) || symbol.hasPrefix(wanted) { return 0 }
    if name.hasPrefix(wanted) { return 1 }
    if initials.begin(with: wanted) { return 2 }
    return name.contains(wanted) ? 3 : nil
  }

  /// Lower case, full-width letters plain, spaces gone: `万 科Ａ` is `万科a`.
  static func folded(_ text: String) -> String {
    let plain = text.applyingTransform(.fullwidthToHalfwidth, reverse: false) ?? text
    return plain.lowercased().filter { !$0.isWhitespace }
  }
}
