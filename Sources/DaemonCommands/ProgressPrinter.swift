/// Says on standard error how a long command goes: a bar that is redrawn on a terminal, a line
/// every half minute elsewhere.

import Commands
import Glibc
import History
import Market
import Platform
import TerminalView

package final class ProgressPrinter: Sendable {
  private let isTerminal: Bool
  private let printedAt = Locked<Timestamp?>(nil)

  private static let pauseSeconds: Int64 = 30
  private static let barWidth = 24

  package init() {
    let mode = Terminal.mode(of: STDERR_FILENO)
    isTerminal = if case .live = mode { true } else { false }
  }

  func update(_ progress: BackfillProgress) {
    let words = Self.words(progress)
    show(isTerminal ? Self.bar(progress) + " " + words : words, at: progress.now)
  }

  package func show(_ words: String, at now: Timestamp) {
    if isTerminal { return StandardError.redraw(words) }
    let isDue = printedAt.withLock { last in
      if let last, now < last.adding(seconds: Self.pauseSeconds) { return false }
      last = now
      return true
    }
    if isDue { StandardError.writeLine(words) }
  }

  /// The last line, which stays.
  package func finish(_ words: String) {
    if isTerminal { StandardError.redraw("") }
    StandardError.writeLine(words)
  }

  func finish(_ progress: BackfillProgress) {
    finish(
      "\(progress.tasksDone) of \(counted(progress.tasks, "chunk")) stored: "
        + "\(counted(progress.candles, "candle")), \(counted(progress.revisions, "revision")), "
        + "\(counted(progress.gapsClosed, "gap")) closed, \(counted(progress.requests, "request"))")
  }

  private static func bar(_ progress: BackfillProgress) -> String {
    let done = progress.tasks == 0 ? barWidth : progress.tasksDone * barWidth / progress.tasks
    return "[" + String(repeating: "#", count: done)
      + String(repeating: ".", count: barWidth - done) + "]"
  }

  private static func words(_ progress: BackfillProgress) -> String {
    var words =
      "\(progress.tasksDone)/\(counted(progress.tasks, "chunk")), "
      + counted(progress.candles, "candle")
    if progress.tasksFailed > 0 { words += ", \(progress.tasksFailed) given up" }
    if let left = progress.secondsLeft { words += ", \(left / 60) min \(left % 60) s left" }
    return words
  }
}
