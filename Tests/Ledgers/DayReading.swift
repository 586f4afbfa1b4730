import ExchangeSimulator
import Market
import TestExchange

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
    /// Of the line, and of the one before; −1 if there was none.
    var stamp: Int
    var stampBefore: Int
    /// What was known to have traded, before and with it.
    var totalsBefore: Totals
    var totals: Totals
    /// The line rounds what it says.
    var isRounding: Bool

    var volume: Int64 { totals.volume - totalsBefore.volume }
    var turnover: Int64 { totals.turnover - totalsBefore.turnover }
    var isCoarse: Bool { totals.isRounded || totalsBefore.isRounded }
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
  private let traits: Traits
  private var frameReadings: [FrameReading] = []

  /// nil if no line of today was seen, or there is no such instrument.
  init?(observations: [Observation], tape: DayTape, place: Int) {
    frames = tape.frames[place]
    reference = tape.references[place]
    open = tape.opens[place]
    afterHours = tape.afterHours[place]
    traits = tape.traits[place]
    frameReadings.reserveCapacity(observations.count)
    var known = Grid.morningOpen
    var shown = -1
    var stamp = -1
    var totals = Totals()
    for observation in observations {
      let frame = frames[observation.frame]
      // Stamps, volumes and turnovers only grow from one state to the next: an earlier state is a
      // line that went backwards, and is not believed. Rounded totals may be the same again.
      let next =
        observation.refreshedAt == nil
        ? observation.frame < shown ? nil : Totals(exact: frame)
        : totals.after(rounded: frame, traits)
      guard let next else { continue }
      let learned = max(known, Int(observation.watermark))
      let reading = FrameReading(
        frame: max(observation.frame, shown), before: shown, known: known, learned: learned,
        stamp: Int(observation.refreshedAt ?? frame.stamp), stampBefore: stamp,
        totalsBefore: totals, totals: next,
        isRounding: observation.refreshedAt != nil)
      frameReadings.append(reading)
      known = learned
      // A line that was written anew with nothing new in it is as old as the one before.
      let isRepeated =
        observation.refreshedAt != nil && shown >= 0 && !traits.isIndex && reading.volume == 0
        && reading.turnover == 0
      (shown, stamp, totals) = (reading.frame, isRepeated ? stamp : reading.stamp, next)
    }
    guard let last = frameReadings.last, frames[last.frame].suspension != .unlisted else {
      return nil
    }
  }

  func page() -> ObservableLedger.Page {
    var minutes = MinuteTable()
    var holes: [ObservableLedger.Hole] = []
    var lastMinute = 0
    for frameReading in frameReadings {
      if let hole = hole(at: frameReading) {
        DayReading.add(hole, to: &holes)
        minutes.tear(
          from: Calculation.elapsed(at: hole.from), to: Calculation.elapsed(at: hole.to),
          price: price(of: frameReading))
      } else {
        enter(frameReading, into: &minutes, &holes, after: &lastMinute)
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
    return ObservableLedger.Hole(
      from: frameReading.known, to: frameReading.learned, volume: frameReading.volume,
      turnover: frameReading.turnover, cause: frameReading.before < 0 ? .lateStart : .outage,
      isCoarse: frameReading.isCoarse)
  }

  /// Holes of one cause that adjoin are one.
  private static func add(
    _ hole: ObservableLedger.Hole, to holes: inout [ObservableLedger.Hole]
  ) {
    guard let last = holes.last, last.cause == hole.cause, last.to == hole.from else {
      return holes.append(hole)
    }
    holes[holes.count - 1].to = hole.to
    holes[holes.count - 1].add(hole.volume, hole.turnover, isCoarse: hole.isCoarse)
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
    _ holes: inout [ObservableLedger.Hole], after lastMinute: inout Int
  ) {
    let (volume, turnover) = (frameReading.volume, frameReading.turnover)
    if frameReading.frame == frameReading.before, volume == 0, turnover == 0 { return }
    let now = frames[frameReading.frame]
    let before = frameReading.before >= 0 ? frames[frameReading.before] : nil
    // Before the day's first trade a last price is indicative at most.
    if now.volume == 0 { return }
    // Where totals are rounded, a price that moved without them has not traded.
    let isQuiet = now.last == before?.last || frameReading.totals.isRounded && !traits.isIndex
    if volume == 0 && turnover == 0 && isQuiet { return }
    // Stamps of two sources mean two things: a print is never older than the one before it.
    let minute = max(Calculation.minute(ofStamp: frameReading.stamp), lastMinute)
    lastMinute = minute
    if let hole = holes.last, minute < Calculation.elapsed(at: hole.to) / 60 {
      holes[holes.count - 1].add(volume, turnover, isCoarse: frameReading.isCoarse)
      minutes.find(Int64(now.last), at: Calculation.elapsed(at: hole.to) / 60)
      return
    }
    let rose = now.high > (before?.high ?? 0)
    let fell = (before?.low ?? 0) == 0 || now.low < (before?.low ?? 0)
    // Only its own stamps say when an instrument's extreme moved.
    let earlier = Calculation.elapsed(
      at: before == nil ? Grid.morningOpen : frameReading.stampBefore)
    let isAmbiguous = (rose || fell) && minute > 0 && earlier < minute * 60
    minutes.add(
      minute, volume: volume, turnover: turnover, last: Int64(now.last),
      open: minute == 0 ? open : Int64(now.last), high: rose ? Int64(now.high) : nil,
      low: fell ? Int64(now.low) : nil, isAmbiguous: isAmbiguous, isCoarse: frameReading.isCoarse)
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
    let reading = frameReadings[frameReadings.count - 1]
    let (last, totals) = (frames[reading.frame], reading.totals)
    page.day = ObservableLedger.Row(
      open: last.volume > 0 ? open : 0, high: Int64(last.high), low: Int64(last.low),
      close: Int64(last.last), volume: totals.volume, turnover: totals.turnover,
      flags: totals.isRounded ? .coarse : [], hasMoved: last.volume > 0)
    page.hasCoarse = frameReadings.contains(where: \.isCoarse)
    page.afterHours = afterHoursTotals()
  }

  /// Of the fixed-price session, as the lines showed it one after the other.
  private func afterHoursTotals() -> Totals {
    guard let first = afterHours.first else { return Totals() }
    return frameReadings.drop { frames[$0.frame].stamp < first.stamp }
      .reduce(Totals()) { totals, reading in
        let stamp = frames[reading.frame].stamp
        guard let shown = afterHours.last(where: { $0.stamp <= stamp }) else { return totals }
        return reading.isRounding
          ? totals.after(rounded: shown, traits) ?? totals : Totals(exact: shown)
      }
  }
}
