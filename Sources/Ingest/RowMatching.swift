import Feeds
import Market

/// Which instrument each row of an answer is about, who was asked for and who answered. Reused
/// between answers.
struct RowMatching {
  /// The number of the response that last requested each instrument, and that last had its row.
  private var asked: [UInt32] = []
  private var answered: [UInt32] = []
  private var number: UInt32 = 0
  /// The instrument of the row at each place, and whether another row of the response is about it.
  private(set) var indexes: [Int] = []
  private var duplicates: [Int: Duplicate] = [:]
  /// The response and place of each instrument's first row.
  private var placed: [(number: UInt32, place: Int)] = []

  private enum Duplicate { case same, differing }

  mutating func begin() {
    indexes.removeAll(keepingCapacity: true)
    duplicates.removeAll(keepingCapacity: true)
    number &+= 1
  }

  /// Notes whose row stands at `place`; call it for every place in order.
  mutating func place(_ place: Int, at index: Int, in batch: borrowing QuoteBatch) {
    indexes.append(index)
    while placed.count <= index { placed.append((0, 0)) }
    guard placed[index].number == number else {
      placed[index] = (number, place)
      return
    }
    let first = placed[index].place
    if batch.quotes[first].quote == batch.quotes[place].quote {
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
    case .differing: "two different lines for the symbol, neither is used"
    }
  }
}

// MARK: - Who was asked for, and who answered

extension RowMatching {
  mutating func expect(_ indexes: [Int], of count: Int) {
    grow(to: count)
    for index in indexes { asked[index] = number }
  }

  func wasAsked(for index: Int) -> Bool { index < asked.count && asked[index] == number }

  /// Notes the instrument's row.
  mutating func markAnswered(_ index: Int) {
    grow(to: index + 1)
    answered[index] = number
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

extension QuoteBatch {
  /// The newest stamp in the answer proves every row in it to that moment; a stamp from the future
  /// proves nothing.
  /// - Parameter ofTrading: of the rows alone that trade: some sources stamp the others all day.
  func newestStamp(
    receivedAt: Timestamp, clockSkewSecondsMax: Int64, ofTrading: Bool = false
  ) -> Timestamp? {
    let bound = receivedAt.adding(seconds: clockSkewSecondsMax)
    var newest: Timestamp?
    // By place: a row is half a kilobyte, and a loop over them copies each.
    for place in quotes.indices {
      let at = quotes[place].quote.at
      guard at <= bound, at > newest ?? Timestamp(microseconds: 0) else { continue }
      if !ofTrading || quotes[place].quote.trading.mayMove { newest = at }
    }
    return newest
  }

  /// Whether most of the rows that trade are of that day.
  func hasMostRows(of day: TradingDay) -> Bool {
    quotes.withUnsafeBufferPointer { quotes in
      let trading = quotes.indices.filter { quotes[$0].quote.trading.mayMove }
      return trading.count { quotes[$0].quote.tradingDay == day } * 2 >= trading.count
    }
  }
}

extension TradingState {
  /// Whether rows of it follow the exchange.
  fileprivate var mayMove: Bool {
    switch self {
    case .normal, .preOpen, .auction: true
    case .halted, .delisted, .notListed: false
    }
  }
}
