import ExchangeSimulator
import Market

/// The 240 minutes while lines are being laid out on them.
struct MinuteTable {
  enum Coverage { case whole, partial, missing }

  struct Cell {
    var coverage = Coverage.whole
    var open: Int64?
    var high: Int64 = 0
    var low: Int64 = 0
    var close: Int64?
    /// The price the feed came back with, at this minute's beginning or inside it.
    var found: Int64?
    var volume: Int64 = 0
    var turnover: Int64 = 0
    var isAmbiguous = false
    var isCoarse = false

    func row(flatAt price: Int64) -> ObservableLedger.Row {
      var flags: CandleFlags = coverage == .partial ? .partial : []
      guard let open, let close else {
        if coverage == .whole { flags.insert(.noTrade) }
        return ObservableLedger.Row(
          open: price, high: price, low: price, close: price, volume: 0, turnover: 0,
          flags: flags, hasMoved: false)
      }
      if isAmbiguous { flags.insert(.extremeAmbiguous) }
      if isCoarse { flags.insert(.coarse) }
      return ObservableLedger.Row(
        open: open, high: high, low: low, close: close, volume: volume, turnover: turnover,
        flags: flags, hasMoved: true)
    }
  }

  private(set) var cells = Array(repeating: Cell(), count: Calculation.minutes)

  mutating func add(
    _ minute: Int, volume: Int64, turnover: Int64, last: Int64, open: Int64, high: Int64?,
    low: Int64?, isAmbiguous: Bool, isCoarse: Bool
  ) {
    if cells[minute].open == nil {
      // The first sight of a minute come back to is its open, whether or not it traded then.
      let first = cells[minute].coverage == .partial ? cells[minute].found ?? open : open
      cells[minute].open = first
      cells[minute].high = first
      cells[minute].low = first
    }
    cells[minute].high = max(cells[minute].high, last, high ?? last)
    cells[minute].low = min(cells[minute].low, last, low ?? last)
    cells[minute].close = last
    cells[minute].volume += volume
    cells[minute].turnover += turnover
    if isAmbiguous { cells[minute].isAmbiguous = true }
    if isCoarse { cells[minute].isCoarse = true }
  }

  /// Nobody looked between two moments (trading seconds): minutes inside are missing, those at the
  /// edges partial. `price` is what was found at the end.
  mutating func tear(from start: Int, to end: Int, price: Int64) {
    leave(at: start, until: end)
    let minute = end / 60
    if minute == Calculation.minutes { return }
    cells[minute] = Cell()
    if end % 60 > 0 { cells[minute].coverage = .partial }
    find(price, at: minute)
  }

  /// The price at which a minute begins that came after a time nobody saw.
  mutating func find(_ price: Int64, at minute: Int) {
    if minute < cells.count { cells[minute].found = price }
  }

  /// Nothing is known after `known`, in trading seconds.
  mutating func end(known: Int) { leave(at: known, until: Calculation.secondsPerDay) }

  private mutating func leave(at start: Int, until end: Int) {
    var minute = start / 60
    // What is in a minute none of whose seconds was seen is the opening auction.
    if minute < cells.count, start % 60 > 0 || cells[minute].open != nil {
      cells[minute].coverage = .partial
      minute += 1
    }
    while (minute + 1) * 60 <= end {
      cells[minute].coverage = .missing
      minute += 1
    }
  }
}
