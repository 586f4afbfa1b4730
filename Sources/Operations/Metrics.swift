/// Counters and gauges: an atomic each, so that a hot loop pays nanoseconds. Names and help are
/// literals and labels come from closed enums, so the number of series is known at compile time
/// and no outside text can become one.

import Glibc
import Synchronization

/// A label whose values are the cases of an enum.
public protocol MetricLabel: CaseIterable, Hashable, Sendable {
  static var labelName: StaticString { get }
  var labelValue: String { get }
}

extension MetricLabel where Self: RawRepresentable, RawValue == String {
  public var labelValue: String { rawValue }
}

/// Only ever grows.
public final class Counter: Sendable {
  private let total = Atomic<Int64>(0)

  public var value: Int64 { total.load(ordering: .relaxed) }

  public func increment(by amount: Int64 = 1) {
    precondition(amount >= 0, "a counter never falls")
    total.wrappingAdd(amount, ordering: .relaxed)
  }
}

/// Goes up and down.
public final class Gauge: Sendable {
  private let level = Atomic<Int64>(0)

  public var value: Int64 { level.load(ordering: .relaxed) }

  public func set(_ value: Int64) { level.store(value, ordering: .relaxed) }

  public func add(_ amount: Int64) { level.wrappingAdd(amount, ordering: .relaxed) }
}

/// One counter a case of `Label`.
public struct CounterFamily<Label: MetricLabel>: Sendable {
  fileprivate let counters: [Label: Counter]

  public subscript(label: Label) -> Counter {
    guard let counter = counters[label] else { preconditionFailure("not among allCases: \(label)") }
    return counter
  }
}

/// `@unchecked Sendable`: `families` is only touched with `mutex` held, which is made before and
/// freed after every use.
public final class Metrics: @unchecked Sendable {
  /// What the reference lists.
  public struct Family: Sendable {
    public enum Kind: String, Sendable {
      case counter
      case gauge
    }

    public let name: String
    public let help: String
    public let kind: Kind
    /// The name of its label, if it has one.
    public let label: String?
    fileprivate let series: [(name: String, read: @Sendable () -> Int64)]

    /// The series with their values now, named as Prometheus writes them.
    public var samples: [(name: String, value: Int64)] { series.map { ($0.name, $0.read()) } }
  }

  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var registered: [Family] = []

  public init() { pthread_mutex_init(mutex, nil) }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Registers a counter. A name can be registered once.
  public func counter(_ name: StaticString, _ help: StaticString) -> Counter {
    let counter = Counter()
    register(name, help, .counter, label: nil, [("\(name)", { counter.value })])
    return counter
  }

  public func gauge(_ name: StaticString, _ help: StaticString) -> Gauge {
    let gauge = Gauge()
    register(name, help, .gauge, label: nil, [("\(name)", { gauge.value })])
    return gauge
  }

  public func counters<Label: MetricLabel>(
    _ name: StaticString, _ help: StaticString, by label: Label.Type
  ) -> CounterFamily<Label> {
    let counters = Label.allCases.map { ($0, Counter()) }
    let series = counters.map { label, counter in
      (
        name: "\(name){\(Label.labelName)=\"\(label.labelValue)\"}",
        read: { @Sendable in counter.value }
      )
    }
    register(name, help, .counter, label: "\(Label.labelName)", series)
    return CounterFamily(counters: Dictionary(uniqueKeysWithValues: counters))
  }

  /// In the order of registration.
  public var families: [Family] { locked { registered } }

  /// Every series and its value: `candled_rejected_total{reason="malformed"}` → 3.
  public func snapshot() -> [String: Int64] {
    let samples = families.flatMap { $0.samples.map { ($0.name, $0.value) } }
    return Dictionary(uniqueKeysWithValues: samples)
  }

  private func register(
    _ name: StaticString, _ help: StaticString, _ kind: Family.Kind, label: String?,
    _ series: [(name: String, read: @Sendable () -> Int64)]
  ) {
    locked {
      precondition(!registered.contains { $0.name == "\(name)" }, "\(name) is registered twice")
      registered.append(
        Family(name: "\(name)", help: "\(help)", kind: kind, label: label, series: series))
    }
  }

  private func locked<Result>(_ body: () -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }
}
