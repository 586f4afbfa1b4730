import ExchangeSimulator
import Market
import TestExchange

/// One instrument as it was seen in one answer.
struct Observation {
  /// Place in the instrument's frames.
  var frame: Int
  var watermark: Int32
  /// Of the line where it is not the frame's, whose totals it then rounds.
  var refreshedAt: Int32?
}

/// Reads from the log, instrument by instrument, what was seen of it, in the order it was served.
struct ObservationReader {
  private let log: ObservationLog
  /// A group's answers that were not withdrawn.
  private let entries: [[ObservationLog.Entry]]
  private var merged: [[Int32]: [ObservationLog.Entry]] = [:]

  init(_ log: ObservationLog) {
    self.log = log
    entries = log.entries.map { entries in
      entries.filter { $0.watermark > 0 && !log.withdrawn.contains($0.sequence) }
    }
  }

  mutating func observations(of place: Int, on tape: DayTape) -> [Observation] {
    let frames = tape.frames[place]
    let damaged = log.damaged[Int32(place)] ?? []
    let believed = falseNotes(of: place).filter(\.isPlausible)
    var observations: [Observation] = []
    var frame = -1
    for entry in responses(to: log.groups(showing: Int32(place))) {
      if !damaged.isEmpty, damaged.contains(entry.sequence) { continue }
      let line = entry.refreshed?.line(
        of: Int32(place), tape.traits[place], at: Int(entry.asOf))
      frame = DayTape.place(in: frames, at: line?.state ?? entry.asOf, near: frame)
      // A line of the session before shows nothing of today.
      guard frame >= 0 else { continue }
      // What was believed is held against no line that may be older.
      let isOld = believed.contains { note in
        note.sequence < entry.sequence && !note.isDecided(by: frames[frame])
      }
      if !isOld {
        observations.append(
          Observation(frame: frame, watermark: entry.watermark, refreshedAt: line?.stamp))
      }
    }
    return observations
  }

  private func falseNotes(of place: Int) -> [FalseRowNote] {
    log.falseRows[Int32(place)]?.filter { !log.withdrawn.contains($0.sequence) } ?? []
  }

  /// The false rows of an instrument, and what becomes of each.
  mutating func falseRows(of place: Int, on tape: DayTape) -> [FalseRow] {
    falseNotes(of: place).map { note in
      FalseRow(
        symbol: tape.symbols[place], kind: note.kind,
        stamp: Timestamp(day: tape.day, secondOfDay: Int(note.stamp)),
        servedAt: Timestamp(day: tape.day, secondOfDay: Int(note.second)),
        fate: fate(of: note, tape))
    }
  }

  private mutating func fate(of note: FalseRowNote, _ tape: DayTape) -> FalseRow.Fate {
    guard note.isPlausible else { return .refused }
    let frames = tape.frames[Int(note.place)]
    let damaged = log.damaged[note.place] ?? []
    var frame = -1
    var known = Int(note.second)
    var contradictions = 0
    for entry in responses(to: log.groups(showing: note.place))
    where entry.sequence > note.sequence && !damaged.contains(entry.sequence) {
      if DayReading.isBreak(from: known, to: Int(entry.watermark)) { return .outage }
      known = max(known, Int(entry.watermark))
      frame = DayTape.place(in: frames, at: entry.asOf, near: frame)
      guard frame >= 0, note.isDecided(by: frames[frame]) else { continue }
      guard note.isContradicted(by: frames[frame]) else { return .overtaken }
      contradictions += 1
      if contradictions == ObservationReader.contradictionsNeeded {
        return .corrected(at: Timestamp(day: tape.day, secondOfDay: Int(entry.asOf)))
      }
    }
    return .undecided
  }

  private static let contradictionsNeeded = 3

  /// The answers to several groups in one order; instruments mostly share their groups.
  private mutating func responses(to groups: [Int32]) -> [ObservationLog.Entry] {
    if groups.count == 1 { return entries[Int(groups[0])] }
    if let known = merged[groups] { return known }
    let all = groups.flatMap { entries[Int($0)] }.sorted { $0.sequence < $1.sequence }
    merged[groups] = all
    return all
  }
}
