import Market
import TerminalView

/// What a demo came to: a few lines that stay on the screen when its view is gone, and in the
/// folder if it is kept.
package struct DemoSummary: Sendable {
  /// How it ended.
  package var last: DemoSnapshot
  /// Real time from the first request to the end.
  package var seconds: Int
  /// What is in no table, in words; nil if everything is.
  package var unsaved: String?
  /// nil if everything was deleted.
  package var folder: String?

  package init(last: DemoSnapshot, seconds: Int, unsaved: String?, folder: String?) {
    self.last = last
    self.seconds = seconds
    self.unsaved = unsaved
    self.folder = folder
  }

  /// Plain lines, each with its line feed.
  package var text: String {
    let clock = ClockText.second(last.at.shanghaiSecondOfDay)
    let day = "\(last.at.shanghaiDay) \(last.at.shanghaiDay.weekdayName)"
    let head =
      "demo of \(day), \(counted(last.instruments, "instrument")): ended at \(clock) after "
      + "\(seconds / 60) min \(seconds % 60) s"
    return head + "\n"
      + lines.map { label, value in
        "  " + label.padded(columns: 14, alignment: .leading) + value.withoutControls + "\n"
      }.joined()
  }

  private var lines: [(label: String, value: String)] {
    var lines = [
      ("certificates", certificates),
      (
        "candles",
        "\(Figures.grouped(last.results.candles)), gaps \(Figures.grouped(last.results.gaps)), "
          + "revisions \(Figures.grouped(last.results.revisions)), "
          + "rejected rows \(Figures.grouped(last.results.rejected))"
      ),
      (
        "rows",
        "\(Figures.grouped(last.polling.rows)) quotes, "
          + "\(Figures.grouped(last.polling.rows / max(seconds, 1))) a second"
      ),
    ]
    if let unsaved { lines.append(("NOT SAVED", unsaved)) }
    guard let folder else {
      return lines + [("data", "discarded; --keep FOLDER keeps it")]
    }
    return lines + [
      ("data", "saved in \(folder)"), ("", "candled-demo --open \(folder) shows it again"),
    ]
  }

  private var certificates: String {
    guard let conservation = last.conservation else {
      return "none yet: they are written after the close"
    }
    let all = Figures.grouped(conservation.certificates)
    if conservation.balanced == conservation.certificates { return "\(all) of \(all), residual 0" }
    return "\(Figures.grouped(conservation.balanced)) of \(all) balance; the others: "
      + "candled query audit"
  }
}
