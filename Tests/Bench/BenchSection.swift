/// The parts sections are made of: a stopwatch, a table, and what stands in a row of it.

import Glibc
import Platform

struct BenchSection: Sendable {
  let name: String
  let title: String
  let run: @Sendable (BenchPlan) async throws -> Void
}

/// Why a section cannot measure.
struct BenchFailure: Error, CustomStringConvertible {
  let description: String
}

/// One thing measured: its name and the milliseconds of each round.
struct BenchRow {
  let name: String
  var rounds: [Double] = []

  init(_ name: String) { self.name = name }

  func quantile(_ share: Double) -> Double {
    let sorted = rounds.sorted()
    guard !sorted.isEmpty else { return .nan }
    return sorted[min(Int(Double(sorted.count) * share), sorted.count - 1)]
  }

  var median: Double { quantile(0.5) }
  /// The least disturbed round: what the code costs when nobody else runs.
  var best: Double { quantile(0) }

  /// Runs `work` once and keeps what it took of a core. For work that waits for nobody: what else
  /// runs on the machine does not count.
  mutating func measure<Result>(_ work: () throws -> Result) rethrows -> Result {
    let start = milliseconds(CLOCK_THREAD_CPUTIME_ID)
    defer { rounds.append(milliseconds(CLOCK_THREAD_CPUTIME_ID) - start) }
    return try work()
  }
}

/// A clock that only goes forward, in milliseconds.
func milliseconds(_ clock: clockid_t = CLOCK_MONOTONIC) -> Double {
  Double(SystemClock.nanoseconds(of: clock) ?? 0) / 1_000_000
}

/// Prints rows with their median, 99th percentile and best round, and the median's ratio to the
/// first row's.
func report(_ rows: [BenchRow]) {
  guard let reference = rows.first?.median else { return }
  for row in rows {
    let figures = [(row.median, " ms p50"), (row.quantile(0.99), " p99"), (row.best, " best")]
    let text = figures.map { decimals($0.0, 3, width: 9) + $0.1 }.joined()
    printLine("  \(padded(row.name, 42))\(text)\(decimals(row.median / reference, 2, width: 9)) ×")
  }
}

/// Prints whether a bound is kept.
func check(_ what: String, _ figure: Double, atMost bound: Double, _ unit: String) {
  verdict(figure <= bound, "\(what) \(decimals(figure, 2)) \(unit)", "at most", bound, unit)
}

func check(_ what: String, _ figure: Double, atLeast bound: Double, _ unit: String) {
  verdict(figure >= bound, "\(what) \(decimals(figure, 2)) \(unit)", "at least", bound, unit)
}

private func verdict(
  _ isKept: Bool, _ figure: String, _ relation: String, _ bound: Double, _ unit: String
) {
  printLine("  \(isKept ? "PASS" : "MISS"): \(figure), \(relation) \(decimals(bound, 2)) \(unit)")
}

func printLine(_ line: String) {
  var text = line + "\n"
  text.withUTF8 { bytes in
    var sent = 0
    while sent < bytes.count {
      let count = write(1, bytes.baseAddress.map { $0 + sent }, bytes.count - sent)
      if count <= 0 { return }
      sent += count
    }
  }
}

func padded(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(width - text.count, 0))
}

/// A figure with so many places behind the point, right-aligned.
func decimals(_ figure: Double, _ places: Int, width: Int = 0) -> String {
  guard figure.isFinite else { return String(repeating: " ", count: max(width - 1, 0)) + "-" }
  let factor = pow(10, Double(places))
  let whole = Int((figure * factor).rounded())
  let digits = String(whole)
  let filled = String(repeating: "0", count: max(places + 1 - digits.count, 0)) + digits
  let fraction = places > 0 ? ".\(filled.suffix(places))" : ""
  let text = filled.dropLast(places) + fraction
  return String(repeating: " ", count: max(width - text.count, 0)) + text
}

/// Keeps the optimiser from dropping work whose result nobody reads.
@inline(never)
func consume<Value>(_ value: Value) {}
