import Market

/// Decisions that only the passing of time can make: that no more prints will come, that a feed is
/// silent, that a day is over. Timers fire at fixed seconds of the trading day, so a replay that
/// sees the same moments decides the same.

/// How far the market's day has come.
struct DayProgress: Sendable, Hashable {
  var day: TradingDay?
  /// Minutes whose completion was announced.
  var minutesCompleted = 0
  var stalledSince: Timestamp?
  var early = EarlyClosings()
}

/// Instruments whose day was over before its last timers were: the first rows of the next one came.
struct EarlyClosings: Sendable, Hashable {
  /// The tally of the day's last minute.
  var tally = Tally()
  var closed = 0
  var residuals = 0
}

/// Who has passed a minute, and how.
struct Tally: Sendable, Hashable {
  var traded = 0
  var untraded = 0
  var missing = 0
  var expected: Int { traded + untraded + missing }
}

extension InstrumentDay {
  @inline(__always)
  fileprivate func count(_ minute: Int, in tally: inout Tally) {
    guard isTradable || !booked.volume.isZero else { return }
    guard let previous, previous.minute == minute, previous.isFinal,
      previous.moved || !previous.flags.contains(.partial)
    else {
      tally.missing += 1
      return
    }
    if previous.moved { tally.traded += 1 } else { tally.untraded += 1 }
  }

  /// Whether a timer of `minute` has something to decide.
  @inline(__always)
  fileprivate func isDue(_ minute: Int, afterTimeout: Bool, in hours: TradingHours) -> Bool {
    if isClosed { return false }
    if isKnown(throughMinute: minute, in: hours) {
      return current.minute <= minute || previous?.isFinal == false
    }
    return afterTimeout ? !isAlive(throughMinute: minute, in: hours) : coverage.lag > 0
  }
}

enum TimerKind: Sendable, Hashable {
  /// Prints had their chance: minutes proven to their end are final.
  case grace(minute: Int)
  /// Silence has lasted too long: what was seen is all there will be. Minutes proven meanwhile are
  /// final.
  case sourceTimeout(minute: Int)
  case dayEnd
}

struct Timer: Sendable, Hashable {
  var secondOfDay: Int
  var kind: TimerKind
}

extension CandleRules {
  /// The timers of a day in order of time, those of one second in order of their minutes.
  var timers: [Timer] {
    var timers: [Timer] = []
    for minute in 0..<hours.minutesPerDay {
      let grace =
        hours.closing(ofMinute: minute)
        + (hours.endsSession(minute) ? sessionGraceSeconds : graceSeconds)
      timers.append(Timer(secondOfDay: grace, kind: .grace(minute: minute)))
      timers.append(
        Timer(secondOfDay: grace + sourceTimeoutSeconds, kind: .sourceTimeout(minute: minute)))
    }
    timers.append(Timer(secondOfDay: dayEndSecondOfDay, kind: .dayEnd))
    return timers.sorted { $0.secondOfDay < $1.secondOfDay }
  }
}

extension CandleBook {
  /// The next moment at which `advance(to:)` has something to decide.
  package var nextDeadline: Timestamp? {
    guard let day = progress.day, let next = timersDue(on: day).first else { return nil }
    return rules.hours.moment(on: day, secondOfDay: next.secondOfDay)
  }

  /// Carries out every timer that has come due. Call it with the receive time of each answer
  /// before its rows are observed, and at `nextDeadline` when no answer comes.
  package mutating func advance(to now: Timestamp) {
    while let day = progress.day, let next = timersDue(on: day).first {
      let due = rules.hours.moment(on: day, secondOfDay: next.secondOfDay)
      if due > now { return }
      for timer in timersDue(on: day).prefix(while: { $0.secondOfDay == next.secondOfDay }) {
        run(timer.kind, on: day)
      }
      timersDoneThrough = due
    }
  }

  /// The timers that are not carried out yet.
  private func timersDue(on day: TradingDay) -> ArraySlice<Timer> {
    let done = rules.hours.clock.second(of: timersDoneThrough, on: day)
    return timers[timers.partitioningIndex { $0.secondOfDay > done }...]
  }

  /// The first snapshot of a new market day: timers that lie behind it have nothing to decide. The
  /// day before is finished first, where it ends at midnight.
  mutating func startDay(_ day: TradingDay, at now: Timestamp) {
    if let current = progress.day, current >= day || now < end(of: current) { return }
    progress = DayProgress(day: day, stalledSince: progress.stalledSince)
    timersDoneThrough = max(timersDoneThrough, now)
  }

  private func end(of day: TradingDay) -> Timestamp {
    rules.hours.moment(on: day, secondOfDay: rules.dayEndSecondOfDay)
  }

  /// An instrument was closed by the first row of the next day.
  mutating func countEarly(_ index: Int, at now: Timestamp) {
    guard let state = instruments[index].state, state.day == progress.day, now < end(of: state.day)
    else { return }
    state.count(rules.hours.minutesPerDay - 1, in: &progress.early.tally)
    guard let certificate = output.certificates.last, certificate.exchangeVolume != nil else {
      return
    }
    progress.early.closed += 1
    if !certificate.isBalanced { progress.early.residuals += 1 }
  }

  private mutating func run(_ kind: TimerKind, on day: TradingDay) {
    let rules = rules
    switch kind {
    case .grace(let minute):
      forEachState(of: day, due: minute, afterTimeout: false) { state, output in
        if state.isKnown(throughMinute: minute, in: rules.hours) {
          state.finish(throughMinute: minute, rules: rules, into: &output)
        } else if state.coverage.lag > 0 {
          state.finishLate(rules: rules, into: &output)
        }
      }
      let tally = tally(ofMinute: minute, on: day)
      if tally.missing == 0 { complete(minute, with: tally, on: day) }
    case .sourceTimeout(let minute):
      forEachState(of: day, due: minute, afterTimeout: true) { state, output in
        if !state.isKnown(throughMinute: minute, in: rules.hours) {
          if !state.isAlive(throughMinute: minute, in: rules.hours) {
            state.endObservation(rules: rules, into: &output)
          }
        } else if state.current.minute <= minute + 1 {
          // Proven after its grace: by an answer that was late, or a clock that runs fast.
          state.finish(throughMinute: minute, rules: rules, into: &output)
        }
      }
      if progress.minutesCompleted <= minute {
        complete(minute, with: tally(ofMinute: minute, on: day), on: day)
      }
    case .dayEnd:
      endDay(day)
      if let newest = certification?.newest, newest > day {
        progress = DayProgress(day: newest, stalledSince: progress.stalledSince)
      }
    }
  }

  private mutating func forEachState(
    of day: TradingDay, due minute: Int, afterTimeout: Bool,
    decide: (inout InstrumentDay, inout CandleOutput) -> Void
  ) {
    let hours = rules.hours
    for index in instruments.indices {
      guard instruments[index].day == day,
        instruments[index].state?.isDue(minute, afterTimeout: afterTimeout, in: hours) == true,
        let before = instruments[index].state
      else { continue }
      var state = before
      decide(&state, &output)
      guard
        state.current.minute != before.current.minute
          || state.previous?.isFinal != before.previous?.isFinal
      else { continue }
      memories[index].change(from: before, to: &state, hours: hours)
      instruments[index].state = state
      output.touched.append(index)
    }
  }

  private mutating func tally(ofMinute minute: Int, on day: TradingDay) -> Tally {
    let isLast = minute == rules.hours.minutesPerDay - 1
    var tally = isLast ? progress.early.tally : Tally()
    for index in instruments.indices where instruments[index].day == day {
      instruments[index].state?.count(minute, in: &tally)
    }
    return tally
  }

  private mutating func complete(_ minute: Int, with tally: Tally, on day: TradingDay) {
    guard tally.expected > 0, progress.minutesCompleted <= minute else { return }
    progress.minutesCompleted = minute + 1
    let openedAt = rules.hours.moment(
      on: day, secondOfDay: rules.hours.opening(ofMinute: minute))
    output.events.append(
      .minuteComplete(
        MinuteComplete(
          tradingDay: day, openedAt: openedAt, expected: tally.expected, traded: tally.traded,
          untraded: tally.untraded, missing: tally.missing)))
    recordSilence(tally, closedAt: openedAt.adding(seconds: 60))
  }

  /// A feed is stalled when more than half of the market is missing from a minute.
  private mutating func recordSilence(_ tally: Tally, closedAt: Timestamp) {
    let isStalled = tally.missing * 2 > tally.expected
    if isStalled, progress.stalledSince == nil {
      let since = watermarks.newest ?? closedAt
      progress.stalledSince = since
      output.events.append(.feedStalled(source: sourceName, since: since))
    } else if !isStalled, progress.stalledSince != nil {
      progress.stalledSince = nil
      output.events.append(.feedRecovered(source: sourceName, at: closedAt))
    }
  }
}
