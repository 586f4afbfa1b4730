import DemoView
import Market
import TerminalView
import Testing

@Suite struct `The demo's live view` {
  @Test(arguments: [(80, 24), (110, 32), (60, 30), (40, 10)])
  func `looks as it did`(width: Int, height: Int) throws {
    let frame = try DemoSnapshot.midMorning().render(width: width, height: height, color: false)
    Golden.expect(Frame(frame).visible, matches: "frame-\(width)x\(height).txt")
  }

  @Test func `after the close looks as it did, in colour`() throws {
    let frame = try DemoSnapshot.afterClose().render(width: 100, height: 28, color: true)
    Golden.expect(Frame(frame).spelled, matches: "frame-after-close-color.txt")
  }

  @Test func `stays within the terminal, however small`() throws {
    for snapshot in [try DemoSnapshot.midMorning(), try DemoSnapshot.afterClose()] {
      for width in [1, 2, 7, 20, 31, 32, 33, 53, 79, 80, 81, 106, 109, 130] {
        for height in [1, 2, 9, 18, 19, 24, 40] {
          let frame = Frame(snapshot.render(width: width, height: height, color: false))
          #expect(frame.lines.count <= height)
          #expect(frame.lines.allSatisfy { DisplayWidth.of($0) <= width })
        }
      }
    }
  }

  @Test func `redraws in place without clearing the screen`() throws {
    let frame = try DemoSnapshot.midMorning().render(width: 80, height: 24, color: true)
    #expect(frame.hasPrefix("\u{1B}[H"))
    #expect(frame.hasSuffix("\u{1B}[K\u{1B}[J"))
    #expect(!frame.contains("\u{1B}[2J"))
  }

  @Test func `without colour has no colour`() throws {
    let frame = try DemoSnapshot.afterClose().render(width: 100, height: 28, color: false)
    #expect(!frame.contains("m" + "\u{1B}") && !frame.contains("\u{1B}[1m"))
    #expect(!frame.contains("\u{1B}[3"))
  }

  @Test func `a name cannot steer the terminal`() throws {
    var snapshot = try DemoSnapshot.midMorning()
    snapshot.quotes[0].name = "\u{1B}]0;x\u{7}\u{9B}2J"
    let frame = snapshot.render(width: 110, height: 30, color: false)
    #expect(!frame.contains("\u{1B}]") && !frame.contains("\u{7}") && !frame.contains("\u{9B}"))
  }

  @Test func `the bar of the day is empty before, half at lunch and full after`() throws {
    func filled(_ hour: Int) throws -> Int {
      var snapshot = try DemoSnapshot.midMorning()
      snapshot.at = Timestamp(day: snapshot.at.shanghaiDay, secondOfDay: hour * 3600)
      return snapshot.render(width: 80, height: 24, color: false).count { $0 == "━" }
    }
    #expect(try filled(9) == 0)
    #expect(try filled(12) == 24)
    #expect(try filled(15) == 48)
  }

  @Test(arguments: [56, 60, 80, 130])
  func `the line to look inside is whole`(width: Int) throws {
    let snapshot = try DemoSnapshot.midMorning()
    let lines = Frame(snapshot.render(width: width, height: 24, color: false)).lines
    let start = try #require(lines.firstIndex { $0.contains("look inside") })
    let words = lines[start...].prefix { !$0.contains("Ctrl-C") }
      .flatMap { $0.split(separator: " ") }
    #expect(words.dropFirst(2).joined(separator: " ") == snapshot.psql)
  }

  @Test func `the line for logs shows no price before the first trade`() throws {
    var snapshot = try DemoSnapshot.midMorning()
    snapshot.quotes[0].last = .zero
    #expect(snapshot.line().hasSuffix("  sh600519 - -"))
  }

  @Test func `the line for logs says the same in one plain line`() throws {
    #expect(
      try DemoSnapshot.midMorning().line()
        == "2026-07-06 10:42  morning session  sweeps 1234 (20.0/min)  missed 2  lag 12.3 ms  "
        + "candles 12345  gaps 0  rejected 0  seq 1230  sh600519 1769.040 +0.52%")
    #expect(
      try DemoSnapshot.afterClose().line()
        == "2026-07-06 15:31  closed  sweeps 8940 (0.0/min)  missed 12  lag 1204.5 ms  "
        + "candles 1296000  gaps 3  rejected 7  seq 8930  source banned  "
        + "sh600519 1752.000 -0.45%  balanced 5399/5400")
  }
}

@Suite struct `The demo's summary` {
  private func summary(
    _ last: DemoSnapshot, unsaved: String? = nil, folder: String? = nil
  ) -> String {
    DemoSummary(last: last, seconds: 125, unsaved: unsaved, folder: folder).text
  }

  @Test func `of a day that is over has its certificates, candles, rows and place`() throws {
    var last = try DemoSnapshot.afterClose()
    last.conservation = .init(certificates: 5_400, balanced: 5_400)
    #expect(
      summary(last, folder: "/tmp/day")
        == """
        demo of 2026-07-06 Mon, 5400 instruments: ended at 15:31:00 after 2 min 5 s
          certificates  5,400 of 5,400, residual 0
          candles       1,296,000, gaps 3, revisions 0, rejected rows 7
          rows          296,000 quotes, 2,368 a second
          data          saved in /tmp/day
                        candled-demo --open /tmp/day shows it again

        """)
  }

  @Test func `of one that was stopped promises no certificates, and says that nothing stays`()
    throws
  {
    let text = summary(try DemoSnapshot.midMorning())
    #expect(text.contains("  certificates  none yet: they are written after the close\n"))
    #expect(text.contains("  data          discarded; --keep FOLDER keeps it\n"))
  }

  @Test func `says what does not balance and what was not saved`() throws {
    let text = summary(
      try DemoSnapshot.afterClose(), unsaved: "0 candles, and 1 entry of the journal")
    #expect(text.contains("5,399 of 5,400 balance; the others: candled query audit\n"))
    #expect(text.contains("  NOT SAVED     0 candles, and 1 entry of the journal\n"))
  }
}

@Suite struct `The days behind a demo` {
  @Test func `are shown in one line, while and after they are filled in`() {
    var progress = DemoPastProgress("30 days", instruments: 5_520)
    progress.instrumentsDone = 2_140
    #expect(progress.line == "30 days behind it: 2,140 of 5,520 instruments")
    progress.instrumentsDone = 5_520
    progress.candles = 164_500
    #expect(
      progress.line(afterSeconds: 14)
        == "30 days behind it: 5,520 instruments, 164,500 candles, 14 s")
  }
}

@Suite struct `Per cent against the previous close` {
  @Test(arguments: [
    ("11.00", "10.00", "10.00"), ("9.90", "10.00", "-1.00"), ("10.001", "10.00", "0.01"),
    ("2.005", "2.000", "0.25"), ("3.0001", "3.0000", "0.00"),
  ])
  func `is rounded half away from zero`(last: String, previous: String, percent: String) throws {
    let quote = try DemoQuote.made("sh600000", "浦发银行", last, previous)
    #expect(quote.percentChange?.description == percent)
  }

  @Test func `is none before the first trade and without a previous close`() throws {
    #expect(try DemoQuote.made("sh600000", "浦发银行", "0.000", "10.00").percentChange == nil)
    #expect(try DemoQuote.made("sh600000", "浦发银行", "10.00", "0.000").percentChange == nil)
  }
}

@Suite struct `The phases of the trading day` {
  @Test(arguments: [
    (9 * 3600 + 14 * 60 + 59, SessionPhase.beforeOpen), (9 * 3600 + 15 * 60, .openingAuction),
    (9 * 3600 + 25 * 60, .openingPause), (9 * 3600 + 30 * 60, .morning),
    (11 * 3600 + 30 * 60, .lunch), (13 * 3600, .afternoon), (14 * 3600 + 57 * 60, .closingAuction),
    (15 * 3600, .closed), (15 * 3600 + 5 * 60, .afterHours), (15 * 3600 + 30 * 60, .closed),
  ])
  func `begin on the second`(second: Int, phase: SessionPhase) {
    #expect(SessionPhase(secondOfDay: second) == phase)
    #expect(SessionPhase(secondOfDay: second - 1) != phase || phase == .beforeOpen)
  }
}

@Suite struct `How to show what goes on` {
  @Test func `is live only on a terminal that can move its cursor`() {
    #expect(Terminal.mode(isTerminal: true, term: "xterm", noColor: nil) == .live(color: true))
    #expect(Terminal.mode(isTerminal: false, term: "xterm", noColor: nil) == .lines)
    #expect(Terminal.mode(isTerminal: true, term: "dumb", noColor: nil) == .lines)
    #expect(Terminal.mode(isTerminal: true, term: nil, noColor: nil) == .lines)
  }

  @Test func `respects NO_COLOR unless it is empty`() {
    #expect(Terminal.mode(isTerminal: true, term: "xterm", noColor: "1") == .live(color: false))
    #expect(Terminal.mode(isTerminal: true, term: "xterm", noColor: "") == .live(color: true))
  }

  @Test func `takes the classic size where there is no terminal`() {
    #expect(Terminal.size(of: -1) == Terminal.classicSize)
  }
}
