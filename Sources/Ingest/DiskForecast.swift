/// When a disk will be full, by what it had free on the days before. Recording goes before history,
/// so the journal gives way on a full disk; the database cannot.

import Market
import Operations
import Platform

package struct DiskForecast: Sendable, Hashable {
  /// `journal` or `database`; both where they share a disk.
  package var name: String
  package var freeBytes: Int64
  /// nil while it does not fill, and in its first week.
  package var fullOn: TradingDay?
}

/// What disks had free, by day: a small file in the state directory, so that it outlasts restarts.
struct DiskHistory: Sendable, Hashable {
  struct Sample: Sendable, Hashable {
    var day: TradingDay
    var name: String
    var freeBytes: Int64
  }

  /// Four weeks even out a backfill; a week is the least that shows a trend over a weekend.
  private static let daysMax = 28
  private static let daysMin = 7
  /// What lies further away is no forecast.
  private static let aheadDaysMax: Int64 = 3_650

  private(set) var samples: [Sample] = []

  init() {}

  /// Lines that are none are left out.
  init(text: String) {
    samples = text.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count == 3, let day = TradingDay(words[0]), let free = Int64(words[2]) else {
        return nil
      }
      return Sample(day: day, name: String(words[1]), freeBytes: free)
    }
  }

  var text: String {
    samples.map { "\($0.day) \($0.name) \($0.freeBytes)\n" }.joined()
  }

  /// The most of a day counts: a drill, or a month that is put in order, takes room for hours.
  mutating func add(_ sample: Sample) {
    let oldest = sample.day.advanced(by: -Self.daysMax)
    samples.removeAll { $0.day < oldest || $0.day > sample.day }
    let known = samples.firstIndex { $0.day == sample.day && $0.name == sample.name }
    guard let known else { return samples.append(sample) }
    samples[known].freeBytes = max(samples[known].freeBytes, sample.freeBytes)
  }

  /// By the mean of the days that are known.
  func fullOn(of name: String) -> TradingDay? {
    let known = samples.filter { $0.name == name }
    guard let first = known.first, let last = known.last else { return nil }
    let days = first.day.distance(to: last.day)
    guard days >= Self.daysMin, first.freeBytes > last.freeBytes else { return nil }
    let bytesPerDay = max((first.freeBytes - last.freeBytes) / Int64(days), 1)
    let left = last.freeBytes / bytesPerDay
    return left > Self.aheadDaysMax ? nil : last.day.advanced(by: Int(left))
  }
}

extension Daemon {
  private static let diskLookNanoseconds: UInt64 = 600_000_000_000

  /// Looks at the disks until cancelled.
  func watchDisks() async {
    let path = settings[StateSettings.directory] + "/disk.days"
    var history = DiskHistory(text: SmallFile.text(of: path))
    while !Task.isCancelled {
      let today = EngineClock.realNow().shanghaiDay
      var folders = [("journal", settings.journalPath)]
      if let folder = settings.databaseFolder { folders.append(("database", folder)) }
      state.disks = folders.compactMap { name, folder in
        guard let free = Folder.freeBytes(of: folder) else { return nil }
        history.add(DiskHistory.Sample(day: today, name: name, freeBytes: free))
        return DiskForecast(name: name, freeBytes: free, fullOn: history.fullOn(of: name))
      }
      SmallFile.replace(path, by: history.text)
      try? await Task.sleep(nanoseconds: Self.diskLookNanoseconds)
    }
  }
}
