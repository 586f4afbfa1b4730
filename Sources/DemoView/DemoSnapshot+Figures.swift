/// The counters of the live view: three panels, side by side as far as there is room.

import TerminalView

/// A label with its value at the right and, where there is more to say, a note behind it.
private struct Figure {
  var label: String
  var value: String
  var style = Style.plain
  var note = ""

  /// Never alarming at zero, always beyond.
  static func fault(_ label: String, count: Int, style: Style) -> Figure {
    Figure(label: label, value: Figures.grouped(count), style: count == 0 ? .plain : style)
  }
}

extension DemoSnapshot {
  func figures(width: Int) -> [StyledLine] {
    let panels = [pollingPanel, storingPanel, resultsPanel]
    let columns = (width - 1) / DemoSnapshot.panelWidthMin
    guard columns >= panels.count else {
      return panels.joined().map { line(of: $0, panelWidth: DemoSnapshot.panelWidthMin) }
    }
    let panelWidth = min((width - 1) / panels.count, DemoSnapshot.panelWidthMax)
    return pollingPanel.indices.map { row in
      var line = StyledLine()
      for (column, panel) in panels.enumerated() {
        line.advance(to: column * panelWidth)
        line.add(self.line(of: panel[row], panelWidth: panelWidth))
      }
      return line
    }
  }

  /// Three panels fit into the classic eighty columns; beyond the larger width they drift apart.
  private static let panelWidthMin = 26
  private static let panelWidthMax = 36
  private static let labelColumns = 13
  private static let valueColumns = 9

  private func line(of figure: Figure, panelWidth: Int) -> StyledLine {
    var line = StyledLine(" " + figure.label, style: .label)
    line.advance(to: DemoSnapshot.labelColumns)
    let value = figure.value.clipped(columns: panelWidth - DemoSnapshot.labelColumns - 1)
    line.add(
      value.padded(columns: DemoSnapshot.valueColumns, alignment: .trailing), style: figure.style)
    let room = panelWidth - line.width - 2
    if !figure.note.isEmpty, DisplayWidth.of(figure.note) <= room {
      line.add(" " + figure.note, style: .label)
    }
    return line
  }

  private var pollingPanel: [Figure] {
    [
      Figure(
        label: "sweeps", value: Figures.grouped(polling.sweeps),
        note: Figures.rate(polling.sweepsPerMinute)),
      Figure(
        label: "requests", value: Figures.grouped(polling.requestsAnswered + polling.requestsFailed)
      ),
      .fault("missed", count: polling.requestsFailed, style: .warning),
      condition("source", is: polling.source),
    ]
  }

  private var storingPanel: [Figure] {
    [
      Figure(label: "poll→commit", value: milliseconds(storing.lagMicroseconds)),
      Figure(label: "commit", value: milliseconds(storing.commitMicroseconds)),
      Figure(label: "change seq", value: Figures.grouped(Int(storing.sequence))),
      condition("store", is: storing.store),
    ]
  }

  private var resultsPanel: [Figure] {
    [
      Figure(label: "candles", value: Figures.grouped(results.candles), style: .title),
      .fault("gaps", count: results.gaps, style: .warning),
      .fault("revisions", count: results.revisions, style: .warning),
      .fault("rejected", count: results.rejected, style: .bad),
    ]
  }

  private func condition(_ label: String, is condition: Condition) -> Figure {
    let style: Style =
      switch condition.health {
      case .good: .good
      case .waiting: .warning
      case .bad: .bad
      }
    return Figure(label: label, value: condition.word, style: style)
  }

  private func milliseconds(_ microseconds: Int64?) -> String {
    microseconds.map(Figures.milliseconds(ofMicroseconds:)) ?? "-"
  }
}
