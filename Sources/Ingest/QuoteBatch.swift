import Candles
import Feeds
import Market

/// The rows of one answer, laid out before any is judged: the newest stamp among them dates all of
/// them, and is known only at the end. Reused between answers; rows remember places in the body,
/// never pointers into it.
struct QuoteBatch: SinaQuoteVisitor {
  private(set) var quotes: [BatchQuote] = []
  private(set) var overview: [OverviewQuote] = []
  private(set) var unknown: [Symbol] = []
  private(set) var refused: [BatchRefusal] = []
  /// By instrument: the number of the answer that last asked for it, and that last had its row.
  private var asked: [UInt32] = []
  private var answered: [UInt32] = []
  private var number: UInt32 = 0
  /// By place: the instrument of the row, and whether another row of the answer is about it.
  private(set) var indexes: [Int] = []
  private var duplicates: [Int: Duplicate] = [:]
  /// By instrument: the answer and place of its first row.
  private var placed: [(number: UInt32, place: Int)] = []
  private var base: Int = 0

  mutating func begin(body: UnsafeRawBufferPointer) {
    quotes.removeAll(keepingCapacity: true)
    overview.removeAll(keepingCapacity: true)
    unknown.removeAll(keepingCapacity: true)
    refused.removeAll(keepingCapacity: true)
    indexes.removeAll(keepingCapacity: true)
    duplicates.removeAll(keepingCapacity: true)
    base = Int(bitPattern: body.baseAddress)
    number &+= 1
  }

  mutating func quote(_ quote: Quote, name: RawName, line: UnsafeRawBufferPointer) {
    quotes.append(
      BatchQuote(
        quote: quote, name: place(of: name.bytes), charset: name.charset, line: place(of: line)))
  }

  mutating func overview(_ quote: OverviewQuote) { overview.append(quote) }

  mutating func unknown(_ symbol: Symbol) { unknown.append(symbol) }

  mutating func rejected(_ row: RejectedRow) {
    refused.append(
      BatchRefusal(
        symbol: row.symbol, reason: row.reason, detail: row.detail, line: place(of: row.line)))
  }

  /// The newest stamp in the answer proves every row in it to that moment; a stamp from the future
  /// proves nothing.
  func newestStamp(receivedAt: Timestamp, _ rules: CandleRules) -> Timestamp? {
    let bound = receivedAt.adding(seconds: rules.clockSkewSecondsMax)
    var newest: Timestamp?
    // By place: a row is half a kilobyte, and a loop over them copies each.
    for place in quotes.indices {
      let at = quotes[place].quote.at
      if at <= bound, at > newest ?? Timestamp(microseconds: 0) { newest = at }
    }
    return newest
  }

  /// Notes whose row stands at `place`; call it for every place in order.
  mutating func place(_ place: Int, at index: Int) {
    indexes.append(index)
    while placed.count <= index { placed.append((0, 0)) }
    guard placed[index].number == number else {
      placed[index] = (number, place)
      return
    }
    let first = placed[index].place
    if quotes[first].quote == quotes[place].quote {
      duplicates[place] = .same
    } else {
      duplicates[first] = .differing
      duplicates[place] = .differing
    }
  }

  /// Why the row does not count beside another one of its symbol; nil if it does. Of two that
  /// differ nobody can say which is true.
  func duplicateFault(_ place: Int) -> String? {
    if duplicates.isEmpty { return nil }
    return switch duplicates[place] {
    case nil: nil
    case .same: "a second line for the symbol"
    case .differing: "two lines for the symbol that differ, neither is taken"
    }
  }

  private enum Duplicate { case same, differing }

  private func place(of bytes: UnsafeRawBufferPointer) -> Range<Int> {
    let start = Int(bitPattern: bytes.baseAddress) - base
    return start..<start + bytes.count
  }
}

struct BatchQuote {
  var quote: Quote
  var name: Range<Int>
  var charset: NameCharset
  var line: Range<Int>

  func refused(_ reason: RejectionReason, _ detail: String) -> BatchRefusal {
    BatchRefusal(symbol: quote.symbol, reason: reason, detail: detail, line: line)
  }
}

/// A row that does not count, and why.
struct BatchRefusal {
  var symbol: Symbol?
  var reason: RejectionReason
  var detail: String
  var line: Range<Int>
}

// MARK: - Who was asked for, and who answered

extension QuoteBatch {
  mutating func expect(_ indexes: [Int], of count: Int) {
    grow(to: count)
    for index in indexes { asked[index] = number }
  }

  func wasAsked(for index: Int) -> Bool { index < asked.count && asked[index] == number }

  /// Notes the instrument's row; false if it already had one.
  mutating func markAnswered(_ index: Int) -> Bool {
    grow(to: index + 1)
    if answered[index] == number { return false }
    answered[index] = number
    return true
  }

  /// The row did not count after all.
  mutating func withdraw(_ index: Int) { answered[index] = 0 }

  func isAnswered(_ index: Int) -> Bool {
    index < answered.count && answered[index] == number
  }

  private mutating func grow(to count: Int) {
    while asked.count < count { asked.append(0) }
    while answered.count < count { answered.append(0) }
  }
}
