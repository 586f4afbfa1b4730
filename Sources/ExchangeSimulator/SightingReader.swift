/// One instrument as it was seen in one answer.
struct Sighting {
  /// Place in the instrument's frames.
  var frame: Int
  var watermark: Int32
}

/// Reads from the log, instrument by instrument, what was seen of it, in the order it was served.
struct SightingReader {
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

  mutating func sightings(of place: Int, frames: [DayTape.Frame]) -> [Sighting] {
    let damaged = log.damaged[Int32(place)] ?? []
    var sightings: [Sighting] = []
    var frame = -1
    for entry in answers(to: log.groupsOf[place]) {
      if !damaged.isEmpty, damaged.contains(entry.sequence) { continue }
      frame = DayTape.place(in: frames, at: entry.asOf, near: frame)
      // A line of the session before shows nothing of today.
      if frame >= 0 { sightings.append(Sighting(frame: frame, watermark: entry.watermark)) }
    }
    return sightings
  }

  /// The answers to several groups in one order; instruments mostly share their groups.
  private mutating func answers(to groups: [Int32]) -> [ObservationLog.Entry] {
    if groups.count == 1 { return entries[Int(groups[0])] }
    if let known = merged[groups] { return known }
    let all = groups.flatMap { entries[Int($0)] }.sorted { $0.sequence < $1.sequence }
    merged[groups] = all
    return all
  }
}
