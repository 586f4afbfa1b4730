/// What a metric is: a name, a sentence, and how to read it off a report. A table of these is a
/// pure function from one report to one page; nothing is counted in here, so each value has one
/// room, where the code that knows it keeps it.
///
/// Labels come from closed lists, so the number of series is bounded by the table itself, and no
/// outside text can become one.

import Market

/// A number as Prometheus is told it, made without binary floating point.
package enum MetricValue: Sendable, Hashable {
  case integer(Int64)
  /// Written in seconds.
  case microseconds(Int64)
  case decimal(ExactDecimal)
  case histogram(MetricHistogram)

  package static func flag(_ truth: Bool) -> MetricValue { .integer(truth ? 1 : 0) }
}

/// One series: the values of the family's labels, in their order.
package struct MetricSeries: Sendable, Hashable {
  package var labels: [String]
  package var value: MetricValue

  package init(_ labels: [String] = [], value: MetricValue) {
    self.labels = labels
    self.value = value
  }
}

/// What may stand in a family's labels.
package struct MetricLabels: Sendable {
  package let names: [String]
  /// Every combination there is; nil where only their number is bounded.
  package let combinations: Set<[String]>?
  package let combinationsMax: Int

  package static let none = MetricLabels([], combinations: [[]])

  package init(_ names: [String], combinations: [[String]]) {
    precondition(combinations.allSatisfy { $0.count == names.count })
    self.names = names
    self.combinations = Set(combinations)
    combinationsMax = combinations.count
  }

  package init(_ name: String, values: some Sequence<String>) {
    self.init([name], combinations: values.map { [$0] })
  }

  /// Values that are known at run time only: names the program gives its own parts.
  package init(_ names: [String], atMost combinationsMax: Int) {
    self.names = names
    combinations = nil
    self.combinationsMax = combinationsMax
  }

  /// Every combination of both.
  package func times(_ name: String, values: some Sequence<String>) -> MetricLabels {
    let values = Array(values)
    return MetricLabels(
      names + [name],
      combinations: (combinations ?? []).flatMap { mine in values.map { mine + [$0] } })
  }

  func admits(_ labels: [String]) -> Bool {
    labels.count == names.count && combinations?.contains(labels) ?? true
  }
}

/// A metric of reports of some kind.
package struct MetricFamily<Report: Sendable>: Sendable {
  package enum Kind: String, Sendable {
    case counter, gauge, histogram
  }

  package let name: String
  package let help: String
  package let kind: Kind
  package let labels: MetricLabels
  private let read: @Sendable (Report) -> [MetricSeries]

  package init(
    _ kind: Kind, name: String, help: String, labels: MetricLabels,
    read: @escaping @Sendable (Report) -> [MetricSeries]
  ) {
    self.name = name
    self.help = help
    self.kind = kind
    self.labels = labels
    self.read = read
  }

  /// Without labels; nil is not known, and then there is no series.
  package init(
    _ kind: Kind, name: String, help: String,
    read: @escaping @Sendable (Report) -> MetricValue?
  ) {
    self.init(kind, name: name, help: help, labels: .none) { report in
      read(report).map { [MetricSeries([], value: $0)] } ?? []
    }
  }

  /// A series outside its lists is left out: a page is never longer than the table says.
  package func series(of report: Report) -> [MetricSeries] {
    Array(read(report).filter { labels.admits($0.labels) }.prefix(labels.combinationsMax))
  }
}
