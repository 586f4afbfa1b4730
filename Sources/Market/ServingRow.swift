/// From when on a source's live quotes are booked in a series. One source serves until the next row
/// of the series; before the first row it is the series' own.
package struct ServingRow: Sendable, Hashable {
  package var series: Source
  /// When its first answer was received.
  package var since: Timestamp
  package var source: Source

  package init(series: Source, since: Timestamp, source: Source) {
    self.series = series
    self.since = since
    self.source = source
  }
}
