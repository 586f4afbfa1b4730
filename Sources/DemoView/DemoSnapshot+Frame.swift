/// The live view: one screen that says whether the whole machine is well, redrawn in place.
///
///     header      what day and time it is in the simulation, and how fast it goes
///     day         how much of the trading day is over
///     figures     asking, committing, and what came of it
///     quotes      a few instruments with their forming minute
///     footer      the day's conservation, and how to look inside
///
/// A frame never scrolls, never clears the screen (that flickers) and never touches the last
/// line's end. When the terminal is low, blank lines go first, then instruments, then the rest
/// from below.

import Market
import TerminalView

extension DemoSnapshot {
  /// The bytes that draw this moment over the previous frame.
  /// - Parameters:
  ///   - width: The terminal's columns.
  ///   - height: The terminal's lines.
  ///   - color: Whether to use colours and weights.
  package func render(width: Int, height: Int, color: Bool) -> String {
    let lines = frameLines(width: width, height: height).map {
      $0.rendered(width: width, color: color) + Control.clearToLineEnd
    }
    return Control.home + lines.joined(separator: "\r\n") + Control.clearBelow
  }

  private enum Control {
    static let home = "\u{1B}[H"
    static let clearToLineEnd = "\u{1B}[K"
    static let clearBelow = "\u{1B}[J"
  }

  private func frameLines(width: Int, height: Int) -> [StyledLine] {
    let top = [[header(width: width)], [dayLine(width: width)], figures(width: width)]
    let bottom = [footer(width: width)]
    let fixed = (top + bottom).reduce(0) { $0 + $1.count }
    let blanks = height - fixed - 4 > min(quotes.count, DemoSnapshot.quotesWorthBlanks) ? 1 : 0
    let quoteLinesMax = max(height - fixed - 4 * blanks, 0)
    let table = Array(QuoteTable(quotes).lines(width: width).prefix(quoteLinesMax))
    // A header without rows says nothing.
    let sections = top + (table.count > 1 ? [table] : []) + bottom
    let gap = Array(repeating: StyledLine(), count: blanks)
    return Array(sections.joined(separator: gap).prefix(max(height, 0)))
  }

  /// Blank lines make way for this many instruments, but for no more.
  private static let quotesWorthBlanks = 6

  private func header(width: Int) -> StyledLine {
    let second = at.shanghaiSecondOfDay
    var line = StyledLine(" candled demo", style: .title)
    line.add("   \(at.shanghaiDay) \(at.shanghaiDay.weekdayName)", style: .label)
    line.add("  " + ClockText.second(second), style: .title)
    line.add("  " + phase.rawValue)
    var right = StyledLine(speed == 0 ? "no clock" : "\(speed)×", style: .title)
    right.add("  \(Figures.grouped(instruments)) instruments ", style: .label)
    if line.width + 2 + right.width <= width {
      line.advance(to: width - right.width)
      line.add(right)
    }
    return line
  }

  /// `09:30 ━━━━━━╸──── 11:30  13:00 ────────── 15:00`
  private func dayLine(width: Int) -> StyledLine {
    let elapsed = TradingHours.mainlandChina.tradingSeconds(before: at.shanghaiSecondOfDay)
    let half = Session.secondsPerDay / 2
    let columns = max((width - 32) / 2, 0)
    var line = StyledLine(" " + ClockText.minute(Session.morningOpen) + " ", style: .label)
    line.add(bar(elapsed: min(elapsed, half), of: half, columns: columns))
    line.add(" " + ClockText.minute(Session.morningClose), style: .label)
    line.add("  " + ClockText.minute(Session.afternoonOpen) + " ", style: .label)
    line.add(bar(elapsed: max(elapsed - half, 0), of: half, columns: columns))
    line.add(" " + ClockText.minute(Session.afternoonClose), style: .label)
    return line
  }

  private func bar(elapsed: Int, of total: Int, columns: Int) -> StyledLine {
    let halves = columns * 2 * elapsed / total
    let full = String(repeating: "━", count: halves / 2)
    let tip = halves.isMultiple(of: 2) ? "" : "╸"
    var bar = StyledLine(full + tip, style: .good)
    bar.add(String(repeating: "─", count: columns - bar.width), style: .label)
    return bar
  }

  private func footer(width: Int) -> [StyledLine] {
    var certificates = StyledLine(" conservation  ", style: .label)
    if let conservation {
      let isWhole = conservation.balanced == conservation.certificates
      certificates.add(
        "\(Figures.grouped(conservation.balanced)) of "
          + "\(Figures.grouped(conservation.certificates)) certificates balance",
        style: isWhole ? .good : .bad)
    } else {
      certificates.add("certificates are written after the close", style: .label)
    }
    let tries = gateway.enumerated().map { index, line in
      var row = StyledLine(index == 0 ? " gateway      " : "              ", style: .label)
      row.add(" " + line)
      return row
    }
    return [certificates] + inside(width: width) + tries + [
      StyledLine(" Ctrl-C drains and stops", style: .label)
    ]
  }

  /// On as many lines as it needs to be whole, cut at blanks: there a line feed is as good to the
  /// shell and, between the quotes, to libpq, so that all of it can be copied and pasted.
  private func inside(width: Int) -> [StyledLine] {
    let words = psql.split(separator: " ").map(String.init)
    var lines = [StyledLine(" look inside  ", style: .label)]
    let widest = words.map(DisplayWidth.of).max() ?? 0
    let indent = lines[0].width + 1 + widest <= width ? lines[0].width : 0
    for word in words {
      if lines[lines.count - 1].width + 1 + DisplayWidth.of(word) > width {
        lines.append(StyledLine(String(repeating: " ", count: indent)))
      }
      lines[lines.count - 1].add(" " + word)
    }
    return lines
  }
}
