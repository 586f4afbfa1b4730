/// How far the days behind a demo's day are filled in, in one line.
package struct DemoPastProgress: Sendable, Hashable {
  /// What is filled in: `30 days`.
  package var what: String
  package var instruments: Int
  package var instrumentsDone = 0
  package var candles = 0

  package init(_ what: String, instruments: Int) {
    self.what = what
    self.instruments = instruments
  }

  /// `30 days behind it: 2,140 of 5,520 instruments`
  package var line: String {
    "\(what) behind it: \(Figures.grouped(instrumentsDone)) of "
      + "\(Figures.grouped(instruments)) instruments"
  }

  /// `30 days behind it: 5,520 instruments, 164,500 candles, 14 s`
  package func line(afterSeconds seconds: Int) -> String {
    "\(what) behind it: \(Figures.grouped(instrumentsDone)) instruments, "
      + "\(Figures.grouped(candles)) candles, \(seconds) s"
  }
}
