/// What is stored of the days that were asked for: read whole once, then carried on by each change
/// of the feed, for who counts the minutes of a market's day reads all of its candles.
///
///     new minute               is added to the row of its series
///     revision, certificate    make that row outdated: the next request reads it again
///
/// A row knows the change that it was read at: nothing counts twice, whatever is read while changes
/// come. The writer keeps nothing for this, so that no commit waits for it.

import AppStore
import Market
import Platform
import Reader

final class CoverageMemory: Sendable {
  struct Reading: Sendable {
    /// The change that the rows are as of.
    let seq: Int64
    let rows: [CoverageRecord]
  }

  /// - Parameter series: their numbers; nil for all.
  typealias Read = @Sendable (_ series: [Int32]?) async throws(Problem) -> Reading

  fileprivate typealias WholeReading = Task<Result<Reading, Problem>, Never>

  fileprivate struct Row: Sendable {
    var record: CoverageRecord
    /// As of which change it was read.
    let seq: Int64
    /// The newest change whose minute was added since.
    var addedAt: Int64 = 0
  }

  fileprivate struct Day: Sendable {
    let day: TradingDay
    /// By the number of the series.
    var rows: [Int32: Row] = [:]
    /// As of which change there is no other row.
    var seq: Int64
    /// The last change that makes a row false.
    var outdated: [Int32: Int64] = [:]
    /// nil once the day is read.
    var reading: WholeReading?
  }

  fileprivate struct State: Sendable {
    /// Of the last change that was applied.
    var seq: Int64 = 0
    /// The one that was asked for last is the last.
    var days: [Day] = []

    func place(of day: TradingDay) -> Int? { days.firstIndex { $0.day == day } }
  }

  fileprivate enum Step: Sendable {
    case rows([CoverageRecord])
    case whole(WholeReading)
    case some([Int32])
  }

  private let state = Locked(State())

  /// A day of a whole market is a megabyte.
  fileprivate static let daysMax = 4
  /// More series cost more by their numbers than the whole day.
  fileprivate static let outdatedMax = 500

  // MARK: Requests

  /// The rows of a day, by symbol and source.
  /// - Throws: what `read` throws.
  func rows(of day: TradingDay, by read: @escaping Read) async throws(Problem) -> [CoverageRecord] {
    let rows: [CoverageRecord]
    switch state.withLock({ $0.begin(day, by: read) }) {
    case .rows(let kept): rows = kept
    case .whole(let reading):
      let result = await reading.value
      let stored = state.withLock { $0.store(result, from: reading, of: day) }
      if let stored { rows = stored } else { rows = try result.get().rows }
    case .some(let series):
      let found = try await read(series)
      let stored = state.withLock { $0.store(found, of: day, reading: series) }
      if let stored { rows = stored } else { rows = try await read(nil).rows }
    }
    return rows.sorted { ($0.symbol, $0.source) < ($1.symbol, $1.source) }
  }

  // MARK: The feed

  /// The feed begins anew behind that change.
  func begin(at seq: Int64) { state.withLock { $0 = State(seq: seq) } }

  func apply(_ change: FeedChange, by directory: InstrumentDirectory) {
    state.withLock { state in
      state.seq = change.seq
      for place in state.days.indices { state.days[place].apply(change, by: directory) }
    }
  }
}

extension CoverageMemory.State {
  fileprivate mutating func begin(
    _ day: TradingDay, by read: @escaping CoverageMemory.Read
  ) -> CoverageMemory.Step {
    if let place = place(of: day) {
      let kept = days.remove(at: place)
      if kept.outdated.count <= CoverageMemory.outdatedMax || kept.reading != nil {
        days.append(kept)
        if let reading = kept.reading { return .whole(reading) }
        return kept.outdated.isEmpty ? .rows(kept.records) : .some(Array(kept.outdated.keys))
      }
    }
    if days.count == CoverageMemory.daysMax { days.removeFirst() }
    // Many wait for it: it takes no turn of the one that asks first.
    let reading = AccessKey.$current.withValue(.everybody) {
      Task { () -> Result<CoverageMemory.Reading, Problem> in
        do throws(Problem) { return .success(try await read(nil)) } catch { return .failure(error) }
      }
    }
    days.append(CoverageMemory.Day(day: day, seq: seq, reading: reading))
    return .whole(reading)
  }

  /// - Returns: nil where the day is not kept: of a server that is behind the feed, say.
  fileprivate mutating func store(
    _ result: Result<CoverageMemory.Reading, Problem>, from reading: CoverageMemory.WholeReading,
    of day: TradingDay
  ) -> [CoverageRecord]? {
    guard let place = place(of: day) else { return nil }
    if days[place].reading == nil { return days[place].records }
    guard days[place].reading == reading else { return nil }
    guard case .success(let found) = result, found.seq >= days[place].seq else {
      days.remove(at: place)
      return nil
    }
    days[place].reading = nil
    days[place].seq = found.seq
    days[place].store(found)
    return days[place].records
  }

  fileprivate mutating func store(
    _ found: CoverageMemory.Reading, of day: TradingDay, reading series: [Int32]
  ) -> [CoverageRecord]? {
    guard let place = place(of: day), days[place].reading == nil else { return nil }
    days[place].store(found, reading: series)
    return days[place].records
  }
}

extension CoverageMemory.Day {
  fileprivate var records: [CoverageRecord] { rows.values.map(\.record) }

  /// - Parameter series: of which it is; nil: of all.
  fileprivate mutating func store(_ found: CoverageMemory.Reading, reading series: [Int32]? = nil) {
    for record in found.rows where found.seq >= rows[record.id]?.seq ?? 0 {
      let addedAt = rows[record.id]?.addedAt ?? 0
      rows[record.id] = CoverageMemory.Row(record: record, seq: found.seq)
      // A minute that came while the row was read is not in it.
      if addedAt > found.seq { outdated[record.id] = max(outdated[record.id] ?? 0, addedAt) }
    }
    for id in series ?? Array(outdated.keys) where outdated[id].map({ $0 <= found.seq }) ?? false {
      outdated[id] = nil
    }
  }

  fileprivate mutating func apply(_ change: FeedChange, by directory: InstrumentDirectory) {
    for stored in change.revisions where isOfDay(stored.candle) {
      outdate(directory.place(of: stored.candle), by: change, in: directory)
    }
    for certificate in change.certificates where certificate.tradingDay == day {
      outdate(
        directory.place(of: certificate.symbol, source: certificate.source), by: change,
        in: directory)
    }
    for stored in change.candles where isOfDay(stored.candle) {
      let place = directory.place(of: stored.candle)
      // One that was revised since comes with its newest values.
      guard reading == nil, stored.revision == 0, let place,
        add(stored.candle, of: directory[place], by: change)
      else {
        outdate(place, by: change, in: directory)
        continue
      }
    }
  }

  private func isOfDay(_ candle: Candle) -> Bool {
    candle.timeframe == .minute1 && candle.tradingDay == day
  }

  private mutating func outdate(
    _ place: SeriesPlace?, by change: FeedChange, in directory: InstrumentDirectory
  ) {
    if let place { outdated[directory[place].id] = change.seq }
  }

  /// - Returns: whether the row is true with it.
  private mutating func add(
    _ candle: Candle, of series: SeriesRecord, by change: FeedChange
  ) -> Bool {
    var row =
      rows[series.id]
      ?? CoverageMemory.Row(
        record: CoverageRecord(
          id: series.id, symbol: series.symbol, source: series.sourceName, tradingDay: day),
        seq: seq)
    // A certificate has its own counts.
    if change.seq <= row.seq || row.record.isCertified { return true }
    guard let volume = try? (row.record.minuteVolume ?? .zero) + candle.volume else { return false }
    row.record.minuteVolume = volume
    if candle.flags.contains(.noTrade) {
      row.record.untraded += 1
    } else {
      row.record.traded += 1
    }
    row.addedAt = change.seq
    rows[series.id] = row
    return true
  }
}
