import ExchangeSimulator
import TestExchange

/// Who saw what: for each group of instruments ever asked for together, the answers it got.
///
/// Answers are kept a group, not an instrument: a day of seven groups is 40,000 entries instead of
/// thirty million.
struct ObservationLog {
  struct Entry {
    /// Place in the order of all answers.
    var sequence: Int32
    /// The publication whose state was shown; for refreshed lines the second of the answer.
    var asOf: Int32
    /// How the lines were written, if not from the publication's state.
    var refreshed: RefreshedLines?
    /// Latest stamp of today among the valid lines; 0 if there was none.
    var watermark: Int32
  }

  /// What was asked for together, of one source.
  private struct Group: Hashable {
    var places: [Int32]
    var refreshed: RefreshedLines?
  }

  let everything: [Int32]
  private(set) var servedStamps: [Int32]
  private(set) var entries: [[Entry]] = []
  /// The instruments of each group, as they were asked for.
  private var members: [Group] = []
  /// Which groups an instrument was in.
  private var groupsOf: [[Int32]]
  /// Answers in which an instrument's line was missing or damaged.
  private(set) var damaged: [Int32: Set<Int32>] = [:]
  private(set) var withdrawn: Set<Int32> = []
  /// Answers of the source whose lines have stamps of their own.
  private(set) var refreshed: Set<Int32> = []
  /// By instrument, in the order they were served.
  private(set) var falseRows: [Int32: [FalseRowNote]] = [:]
  private var groups: [Group: Int32] = [:]
  private var sequence: Int32 = 0

  init(instruments: Int) {
    everything = Array(0..<Int32(instruments))
    servedStamps = Array(repeating: 0, count: instruments)
    groupsOf = Array(repeating: [], count: instruments)
  }

  /// - Parameter stamps: of the lines, in their order; 0 for one of another day.
  mutating func record(_ lines: ServedLines, stamps: [Int32], asOf: Int32) -> Int32 {
    let refreshed = lines.refreshed as? RefreshedLines.Response
    let group = intern(Group(places: lines.places, refreshed: refreshed?.lines))
    var watermark: Int32 = 0
    sequence += 1
    if refreshed != nil { self.refreshed.insert(sequence) }
    for place in lines.invalid { damaged[place, default: []].insert(sequence) }
    for (place, stamp) in zip(lines.places, stamps)
    where lines.invalid.isEmpty || !lines.invalid.contains(place) {
      watermark = max(watermark, stamp)
      servedStamps[Int(place)] = max(servedStamps[Int(place)], stamp)
    }
    entries[Int(group)].append(
      Entry(
        sequence: sequence, asOf: refreshed?.second ?? asOf, refreshed: refreshed?.lines,
        watermark: watermark))
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

  private mutating func intern(_ asked: Group) -> Int32 {
    if let group = groups[asked] { return group }
    let group = Int32(entries.count)
    groups[asked] = group
    entries.append([])
    members.append(asked)
    for place in Set(asked.places) { groupsOf[Int(place)].append(group) }
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
    let groups = groupsOf[Int(place)]
    let sources = Set(groups.map { members[Int($0)].refreshed })
    return sources.flatMap { source in
      shown(place, among: groups.filter { members[Int($0)].refreshed == source })
    }.sorted()
  }

  /// Of one source.
  private func shown(_ place: Int32, among groups: [Int32]) -> [Int32] {
    let places = { (group: Int32) in members[Int(group)].places }
    let begun = groups.filter { places($0).first == place && places($0).count > 1 }
    guard let own = begun.min(by: { places($0)[1] < places($1)[1] }) else { return groups }
    let companions = Set(places(own).dropFirst())
    return groups.filter { !begun.contains($0) || !companions.isDisjoint(with: places($0)) }
  }
}
