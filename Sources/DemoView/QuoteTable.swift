/// The instruments of the live view. Columns are as wide as their widest value, never narrower
/// than usual, so that the table stands still while prices change; where the terminal is narrow,
/// the columns that say least go first.

import Market
import TerminalView

struct QuoteTable {
  private let quotes: [DemoQuote]

  init(_ quotes: [DemoQuote]) { self.quotes = quotes }

  /// A header and a line a quote, each at most `width` columns.
  func lines(width: Int) -> [StyledLine] {
    let columns = fitting(width: width)
    var header = StyledLine(" ")
    for (column, columnWidth) in columns {
      header.add(
        column.title.padded(columns: columnWidth, alignment: column.alignment) + "  ", style: .label
      )
    }
    return [header] + quotes.map { line(of: $0, columns: columns) }
  }

  private func line(
    of quote: DemoQuote, columns: [(column: Column, width: Int)]
  ) -> StyledLine {
    var line = StyledLine(" ")
    for (column, columnWidth) in columns {
      let text = column.text(of: quote).clipped(columns: columnWidth)
      line.add(
        text.padded(columns: columnWidth, alignment: column.alignment) + "  ",
        style: column.style(of: quote))
    }
    return line
  }

  private func fitting(width: Int) -> [(column: Column, width: Int)] {
    var columns = Column.allCases.map { ($0, self.width(of: $0)) }
    for expendable in Column.leastFirst {
      // One blank before the first column; the two behind the last may be cut off.
      if columns.reduce(-1, { $0 + $1.1 + 2 }) <= width { break }
      columns.removeAll { $0.0 == expendable }
    }
    return columns
  }

  private func width(of column: Column) -> Int {
    let widest = quotes.reduce(column.title.count) {
      max($0, DisplayWidth.of(column.text(of: $1)))
    }
    return column == .name ? column.widthMin : max(widest, column.widthMin)
  }
}

private enum Column: String, CaseIterable {
  case symbol, name, last, change, minute, open, high, low, close, volume

  static let leastFirst: [Column] = [.close, .open, .minute, .low, .high, .name, .volume]

  var title: String { rawValue }

  var alignment: ResultColumn.Alignment {
    switch self {
    case .symbol, .name: .leading
    default: .trailing
    }
  }

  /// A symbol is 8 wide, a name mostly four Chinese characters, a price `1769.040`.
  var widthMin: Int {
    switch self {
    case .symbol, .name, .last, .open, .high, .low, .close: 8
    case .change: 7
    case .minute: 6
    case .volume: 9
    }
  }

  func text(of quote: DemoQuote) -> String {
    switch self {
    case .symbol: quote.symbol.description
    case .name: quote.name.withoutControls
    case .last: quote.lastText
    case .change: quote.changeText
    default: quote.forming.map(formingText) ?? "-"
    }
  }

  private func formingText(_ candle: Candle) -> String {
    switch self {
    case .minute: ClockText.minute(candle.openedAt.shanghaiSecondOfDay)
    case .open: candle.open.description
    case .high: candle.high.description
    case .low: candle.low.description
    case .close: candle.close.description
    case .volume: Figures.grouped(candle.volume)
    default: ""
    }
  }

  func style(of quote: DemoQuote) -> Style {
    switch self {
    case .symbol: return .title
    case .last, .change:
      guard let change = quote.percentChange, !change.isZero else { return .plain }
      return change.isPositive ? .rise : .fall
    case .minute: return .label
    default: return .plain
    }
  }
}

extension DemoQuote {
  /// `-` before the first trade.
  var lastText: String { last.isZero ? "-" : last.description }

  /// `+0.52%`, `-` where there is none.
  var changeText: String {
    guard let change = percentChange else { return "-" }
    return "\(change.isPositive ? "+" : "")\(change)%"
  }
}
