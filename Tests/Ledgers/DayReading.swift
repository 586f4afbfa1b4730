import ExchangeSimulator
import Market

/// One instrument's day read back from what was seen of it.
///
/// First the lines that may be believed, in the order they came; then which of them came after a
/// gap; then everything is laid out on the 240 minutes. Quiet lines change nothing but how far the
/// day is known, so only the known-through times of them matter.
struct DayReading {
  /// A line that was believed: which state it showed, after which, and between what it was learned.
  struct FrameReading {
    var frame: Int
    /// −1: nothing of today had been seen.
    var before: Int
    /// Known through, before this answer and with it.
    var known: Int
    var learned: Int
  }

  /// A snapshot that comes this many trading seconds late may still be put into one minute
  /// (BRIEF: `silenceSecondsMax`).
  static let silenceSecondsMax = 15

  /// The end of a day was seen by who still looked this long after it: a closing print may be late.
  static let closeWatchedSeconds = 60

  private let frames: [DayTape.Frame]
  private let reference: Int64
  private let open: Int64
  private let afterHours: [DayTape.AfterHoursFrame]
  private var frameReadings: [FrameReading] = []

  /// nil if no line of today was seen, or there is no such instrument.
  init?(observations: [Observation], tape: DayTape, place: Int) {
    frames = tape.frames[place]
    reference = tape.references[place]
    open = tape.opens[place]
    afterHours = tape.afterHours[place]
    frameReadings.reserveCapacity(observations.count)
    var known = Grid.morningOpen
    var shown = -1
    for observation in observations {
      // Stamps, volumes and turnovers only grow from one state to the next: an earlier state is a
      // line that went backwards, and is not believed.
      if observation.frame < shown { continue }
      let learned = max(known, Int(observation.watermark))
      frameReadings.append(
        FrameReading(frame: observation.frame, before: shown, known: known, learned: learned))
      known = learned
      shown = observation.frame
    }
    guard let last = frameReadings.last, frames[last.frame].suspension != .unlisted else {
      return nil
    }
  }

  func page() -> ObservableLedger.Page {
    var minutes = MinuteTable()
    var holes: [ObservableLedger.Hole] = []
    for frameReading in frameReadings {
      if let hole = hole(at: frameReading) {
        DayReading.add(hole, to: &holes)
        minutes.tear(
          from: Calculation.elapsed(at: hole.from), to: Calculation.elapsed(at: hole.to),
          price: price(of: frameReading))
      } else {
        enter(frameReading, into: &minutes, &holes)
      }
    }
    let known = frameReadings[frameReadings.count - 1].learned
    minutes.end(known: Calculation.elapsed(at: known))
    var page = ObservableLedger.Page()
    page.isComplete = known >= Grid.shanghaiClose + DayReading.closeWatchedSeconds
    if !page.isComplete {
      holes.append(
        ObservableLedger.Hole(
          from: known, to: max(known, Grid.shanghaiClose), volume: 0, turnover: 0,
          cause: .unseenClose))
    }
    page.holes = holes
    fill(&page, from: minutes)
    return page
  }
}

extension DayReading {
  private func hole(at frameReading: FrameReading) -> ObservableLedger.Hole? {
    guard DayReading.isBreak(from: frameReading.known, to: frameReading.learned) else { return nil }
    let before = frameReading.before >= 0 ? frames[frameReading.before] : nil
    let now = frames[frameReading.frame]
    return ObservableLedger.Hole(
      from: frameReading.known, to: frameReading.learned,
      volume: now.volume - (before?.volume ?? 0),
      turnover: now.turnover - (before?.turnover ?? 0),
      cause: before == nil ? .lateStart : .outage)
  }

  /// Holes of one cause that adjoin are one.
  private static func add(
    _ hole: ObservableLedger.Hole, to holes: inout [ObservableLedger.Hole]
  ) {
    guard let last = holes.last, last.cause == hole.cause, last.to == hole.from else {
      return holes.append(hole)
    }
    holes[holes.count - 1].to = hole.to
    holes[holes.count - 1].volume += hole.volume
    holes[holes.count - 1].turnover += hole.turnover
  }

  /// Whether nobody looked for too long, and a minute ended meanwhile.
  static func isBreak(from known: Int, to learned: Int) -> Bool {
    let start = Calculation.elapsed(at: known)
    let end = Calculation.elapsed(at: learned)
    // No minute ended in between if both lie in the same one, its end included.
    return end - start > silenceSecondsMax && end > (start / 60 + 1) * 60
  }

  private func price(of frameReading: FrameReading) -> Int64 {
    let last = Int64(frames[frameReading.frame].last)
    return last > 0 ? last : reference
  }

  /// Lays what a line added into the minute of its stamp, or into the last hole if it hid that
  /// minute.
  private func enter(
    _ frameReading: FrameReading, into minutes: inout MinuteTable,
    _ holes: inout [ObservableLedger.Hole]
  ) {
    if frameReading.frame == frameReading.before { return }
    let now = frames[frameReading.frame]
    let before = frameReading.before >= 0 ? frames[frameReading.before] : nil
    // Before the day's first trade a last price is indicative at most.
    if now.volume == 0 { return }
    let volume = now.volume - (before?.volume ?? 0)
    let turnover = now.turnover - (before?.turnover ?? 0)
    if volume == 0 && turnover == 0 && now.last == before?.last { return }
    let minute = Calculation.minute(ofStamp: Int(now.stamp))
    if let hole = holes.last, minute < Calculation.elapsed(at: hole.to) / 60 {
      holes[holes.count - 1].volume += volume
      holes[holes.count - 1].turnover += turnover
      minutes.find(Int64(now.last), at: Calculation.elapsed(at: hole.to) / 60)
      return
    }
    let rose = now.high > (before?.high ?? 0)
    let fell = (before?.low ?? 0) == 0 || now.low < (before?.low ?? 0)
    // Only its own stamps say when an instrument's extreme moved.
    let earlier = Calculation.elapsed(at: before.map { Int($0.stamp) } ?? Grid.morningOpen)
    let isAmbiguous = (rose || fell) && minute > 0 && earlier < minute * 60
    minutes.add(
      minute, volume: volume, turnover: turnover, last: Int64(now.last),
      open: minute == 0 ? open : Int64(now.last), high: rose ? Int64(now.high) : nil,
      low: fell ? Int64(now.low) : nil, isAmbiguous: isAmbiguous)
  }

  /// The state an instrument was last seen in at the end of each minute.
  private func framesAtClose() -> [Int] {
    var shown: [Int] = []
    var place = 0
    var frame = -1
    for minute in 0..<Calculation.minutes {
      let end = (minute + 1) * 60
      while place < frameReadings.count,
        Calculation.elapsed(at: frameReadings[place].learned) <= end
      {
        frame = frameReadings[place].frame
        place += 1
      }
      shown.append(frame)
    }
    return shown
  }

  private func canTrade(_ frame: Int) -> Bool {
    guard frame >= 0 else { return true }
    switch frames[frame].suspension {
    case .none: return true
    case .unlisted: return false
    case .halted: return frames[frame].volume > 0
    }
  }

  private func fill(_ page: inout ObservableLedger.Page, from minutes: MinuteTable) {
    let atClose = framesAtClose()
    var carried = reference
    for minute in 0..<Calculation.minutes {
      let cell = minutes.cells[minute]
      if let price = cell.found { carried = price }
      if cell.coverage == .missing {
        page.rows.append(nil)
        page.minutesMissing += 1
      } else if cell.open == nil, !canTrade(atClose[minute]) {
        page.rows.append(nil)
      } else {
        page.rows.append(cell.row(flatAt: carried))
      }
      if let price = cell.close { carried = price }
    }
    let last = frames[frameReadings[frameReadings.count - 1].frame]
    page.day = ObservableLedger.Row(
      open: last.volume > 0 ? open : 0, high: Int64(last.high), low: Int64(last.low),
      close: Int64(last.last), volume: last.volume, turnover: last.turnover, flags: [],
      hasMoved: last.volume > 0)
    if let trailer = afterHours.last(where: { $0.stamp <= last.stamp }) {
      page.afterHoursVolume = trailer.volume
      page.afterHoursTurnover = trailer.turnover
    }
  }
}

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

    func row(flatAt price: Int64) -> ObservableLedger.Row {
      var flags: CandleFlags = coverage == .partial ? .partial : []
      guard let open, let close else {
        if coverage == .whole { flags.insert(.noTrade) }
        return ObservableLedger.Row(
          open: price, high: price, low: price, close: price, volume: 0, turnover: 0,
          flags: flags, hasMoved: false)
      }
      if isAmbiguous { flags.insert(.extremeAmbiguous) }
      return ObservableLedger.Row(
        open: open, high: high, low: low, close: close, volume: volume, turnover: turnover,
        flags: flags, hasMoved: true)
    }
  }

  private(set) var cells = Array(repeating: Cell(), count: Calculation.minutes)

  mutating func add(
    _ minute: Int, volume: Int64, turnover: Int64, last: Int64, open: Int64, high: Int64?,
    low: Int64?, isAmbiguous: Bool
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
