import ExchangeSimulator

/// Who saw what: for each group of instruments ever asked for together, the answers it got.
///
/// Answers are kept a group, not an instrument: a day of seven groups is 40,000 entries instead of
/// thirty million.
struct ObservationLog {
  struct Entry {
    /// Place in the order of all answers.
    var sequence: Int32
    /// The publication whose state was shown.
    var asOf: Int32
    /// Latest stamp of today among the valid lines; 0 if there was none.
    var watermark: Int32
  }

  let everything: [Int32]
  private(set) var servedStamps: [Int32]
  private(set) var entries: [[Entry]] = []
  /// The instruments of each group, as they were asked for.
  private var members: [[Int32]] = []
  /// Which groups an instrument was in.
  private var groupsOf: [[Int32]]
  /// Answers in which an instrument's line was missing or damaged.
  private(set) var damaged: [Int32: Set<Int32>] = [:]
  private(set) var withdrawn: Set<Int32> = []
  /// By instrument, in the order they were served.
  private(set) var falseRows: [Int32: [FalseRowNote]] = [:]
  private var groups: [[Int32]: Int32] = [:]
  private var sequence: Int32 = 0

  init(instruments: Int) {
    everything = Array(0..<Int32(instruments))
    servedStamps = Array(repeating: 0, count: instruments)
    groupsOf = Array(repeating: [], count: instruments)
  }

  mutating func record(
    _ places: [Int32], asOf: Int32, watermark: Int32, except invalid: Set<Int32>,
    stamps states: [InstrumentState]
  ) -> Int32 {
    let group = intern(places)
    sequence += 1
    entries[Int(group)].append(Entry(sequence: sequence, asOf: asOf, watermark: watermark))
    for place in invalid { damaged[place, default: []].insert(sequence) }
    for place in places where invalid.isEmpty || !invalid.contains(place) {
      let state = states[Int(place)]
      if state.isPreviousSession { continue }
      servedStamps[Int(place)] = max(servedStamps[Int(place)], state.stamp)
    }
    return sequence
  }

  mutating func record(_ rows: [FalseRowNote], in sequence: Int32) {
    for row in rows {
      var row = row
      row.sequence = sequence
      falseRows[row.place, default: []].append(row)
    }
  }

  mutating func withdraw(_ sequence: Int32) { withdrawn.insert(sequence) }

  private mutating func intern(_ places: [Int32]) -> Int32 {
    if let group = groups[places] { return group }
    let group = Int32(entries.count)
    groups[places] = group
    entries.append([])
    members.append(places)
    for place in Set(places) { groupsOf[Int(place)].append(group) }
    return group
  }
}

extension ObservationLog {
  /// The groups whose answers show an instrument: those it was asked for in.
  ///
  /// Only the reference symbol stands first in every group, so that each answer has a stamp that
  /// moves. It is shown by the group that comes first in the market's order and by parts of it, as
  /// every other instrument is by its one group; in the answers to the others it is a date.
  func groups(showing place: Int32) -> [Int32] {
    let begun = groupsOf[Int(place)].filter { group in
      members[Int(group)].first == place && members[Int(group)].count > 1
    }
    guard let own = begun.min(by: { members[Int($0)][1] < members[Int($1)][1] })
    else { return groupsOf[Int(place)] }
    let companions = Set(members[Int(own)].dropFirst())
    return groupsOf[Int(place)].filter { group in
      !begun.contains(group) || !companions.isDisjoint(with: members[Int(group)])
    }
  }
}
