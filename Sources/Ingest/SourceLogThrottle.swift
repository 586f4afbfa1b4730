import Feeds
import Logging
import Market
import Polling

/// What the log says of how sources are doing: each change, but of one that flaps only so many in a
/// quarter of an hour, and at the end of that how it stands. Metrics and `/status` have them all.
struct SourceLogThrottle: Sendable {
  struct Name: Hashable, Sendable {
    var source: Source
    /// nil for live quotes.
    var endpoint: String?
  }

  /// A line that is due.
  struct Line: Equatable {
    var name: Name
    var condition: SourceState.Condition
    /// Changes that were not told before this one.
    var leftOut = 0

    var metadata: Logger.Metadata {
      var metadata: Logger.Metadata = [
        "source": "\(name.source.name)", "state": "\(condition)",
      ]
      if let endpoint = name.endpoint { metadata["endpoint"] = "\(endpoint)" }
      if leftOut > 0 { metadata["changes_left_out"] = "\(leftOut)" }
      return metadata
    }
  }

  static let changesMax = 6
  static let spanSeconds: Int64 = 900

  private struct Span: Sendable {
    var from: Timestamp
    var changes = 0
    var condition: SourceState.Condition

    var leftOut: Int { max(0, changes - changesMax) }
  }

  private var spans: [Name: Span] = [:]

  /// - Returns: nil if it changed too often lately.
  mutating func changed(
    _ name: Name, to condition: SourceState.Condition, at now: Timestamp
  ) -> Line? {
    var span = spans[name] ?? Span(from: now, condition: condition)
    span.condition = condition
    span.changes += 1
    spans[name] = span
    return span.leftOut == 0 ? Line(name: name, condition: condition) : nil
  }

  /// What is to be said of those whose quarter of an hour is over; a clock that was set back ends
  /// it too.
  mutating func settled(at now: Timestamp) -> [Line] {
    let over = spans.filter { _, span in
      now < span.from || now >= span.from.adding(seconds: Self.spanSeconds)
    }
    for name in over.keys { spans[name] = nil }
    return over.compactMap { name, span in
      span.leftOut == 0
        ? nil : Line(name: name, condition: span.condition, leftOut: span.leftOut)
    }
  }
}

extension Engine {
  func logChange(_ state: SourceState, of source: Source, endpoint: String? = nil) {
    let name = SourceLogThrottle.Name(source: source, endpoint: endpoint)
    if let line = workers.logThrottle.changed(name, to: state.condition, at: now) { logLine(line) }
  }

  func logSettled(at now: Timestamp) {
    for line in workers.logThrottle.settled(at: now) { logLine(line) }
  }

  private func logLine(_ line: SourceLogThrottle.Line) {
    var metadata = line.metadata
    if line.condition == .ok { return parts.log.notice("source state changed", metadata: metadata) }
    if let fault = fault(of: line.name) { metadata["reason"] = "\(fault.advice(at: now))" }
    parts.log.warning("source state changed", metadata: metadata)
  }

  private func fault(of name: SourceLogThrottle.Name) -> SourceFault? {
    workers.slots.first { slot in
      slot.worker.source == name.source
        && (slot.worker.isLive ? nil : slot.worker.name) == name.endpoint
    }?.account.fault
  }
}
