/// What a metric is: a name, a sentence, and how to read it off a report. A table of these is a
/// pure function from one report to one page; nothing is counted in here, so each value has one
/// room, where the code that knows it keeps it.
///
/// Labels come from closed lists, so the number of series is bounded by the table itself, and no
/// outside text can become one.

public import Market

/// A number as Prometheus is told it, made without binary floating point.
public enum MetricValue: Sendable, Hashable {
  case integer(Int64)
  /// Written in seconds.
  case microseconds(Int64)
  case decimal(ExactDecimal)
  case histogram(MetricHistogram)

  public static func flag(_ truth: Bool) -> MetricValue { .integer(truth ? 1 : 0) }
}

/// One series: the values of the family's labels, in their order.
public struct MetricSeries: Sendable, Hashable {
  public var labels: [String]
  public var value: MetricValue

  public init(_ labels: [String] = [], _ value: MetricValue) {
    self.labels = labels
    self.value = value
  }
}

/// What may stand in a family's labels.
public struct MetricLabels: Sendable {
  public let names: [String]
  /// Every combination there is; nil where only their number is bounded.
  public let combinations: Set<[String]>?
  public let combinationsMax: Int

  public static let none = MetricLabels([], [[]])

  public init(_ names: [String], _ combinations: [[String]]) {
    precondition(combinations.allSatisfy { $0.count == names.count })
    self.names = names
    self.combinations = Set(combinations)
    combinationsMax = combinations.count
  }

  public init(_ name: String, _ values: some Sequence<String>) {
    self.init([name], values.map { [$0] })
  }

  /// Values that are known at run time only: names the program gives its own parts.
  public init(_ names: [String], atMost combinationsMax: Int) {
    self.names = names
    combinations = nil
    self.combinationsMax = combinationsMax
  }

  /// Every combination of both.
  public func times(_ name: String, _ values: some Sequence<String>) -> MetricLabels {
    let values = Array(values)
    return MetricLabels(
      names + [name], (combinations ?? []).flatMap { mine in values.map { mine + [$0] } })
  }

  func admits(_ labels: [String]) -> Bool {
    labels.count == names.count && combinations?.contains(labels) ?? true
  }
}

/// A metric of reports of some kind.
public struct MetricFamily<Report: Sendable>: Sendable {
  public enum Kind: String, Sendable {
    case counter, gauge, histogram
  }

  public let name: String
  public let help: String
  public let kind: Kind
  public let labels: MetricLabels
  private let read: @Sendable (Report) -> [MetricSeries]

  public init(
    _ kind: Kind, _ name: String, _ help: String, labels: MetricLabels,
    read: @escaping @Sendable (Report) -> [MetricSeries]
  ) {
    self.name = name
    self.help = help
    self.kind = kind
    self.labels = labels
    self.read = read
  }

  /// Without labels; nil is not known, and then there is no series.
  public init(
    _ kind: Kind, _ name: String, _ help: String,
    read: @escaping @Sendable (Report) -> MetricValue?
  ) {
    self.init(kind, name, help, labels: .none) { report in
      read(report).map { [MetricSeries([], $0)] } ?? []
    }
  }

  /// A series outside its lists is left out: a page is never longer than the table says.
  public func series(of report: Report) -> [MetricSeries] {
    Array(read(report).filter { labels.admits($0.labels) }.prefix(labels.combinationsMax))
  }

  /// The most series it can ever have.
  public var seriesMax: Int {
    labels.combinationsMax * (kind == .histogram ? MetricHistogram.seriesCount : 1)
  }
}

/// How often a duration was how long: counts by upper bound, as Prometheus wants them.
public struct MetricHistogram: Sendable, Hashable {
  /// Upper bounds, µs. A commit is some ms, a slow one some hundred; 10 s is an outage.
  public static let boundsMicroseconds: [Int64] = [
    5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 10_000_000,
  ]
  /// With `+Inf`, `_sum` and `_count`.
  public static let seriesCount = boundsMicroseconds.count + 3

  /// Of each bound on its own; one more for what is beyond all.
  public private(set) var counts = [Int](repeating: 0, count: boundsMicroseconds.count + 1)
  public private(set) var sumMicroseconds: Int64 = 0

  public init() {}

  public mutating func record(microseconds: Int64) {
    let bounds = MetricHistogram.boundsMicroseconds
    counts[bounds.firstIndex { microseconds <= $0 } ?? bounds.count] += 1
    sumMicroseconds += max(microseconds, 0)
  }

  public var count: Int { counts.reduce(0, +) }
}
