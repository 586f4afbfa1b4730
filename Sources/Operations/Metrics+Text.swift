/// Metrics as text: the page Prometheus reads (exposition format 0.0.4) and the reference people
/// do.

import Market

extension Sequence {
  /// The page: HELP, TYPE and the series of each family, those without a series left out.
  package func exposition<Report>(of report: Report) -> String
  where Element == MetricFamily<Report> {
    var page = ""
    for family in self {
      let series = family.series(of: report)
      guard !series.isEmpty else { continue }
      page += "# HELP \(family.name) \(family.help.helpEscaped)\n"
      page += "# TYPE \(family.name) \(family.kind.rawValue)\n"
      for one in series { family.write(one, to: &page) }
    }
    return page
  }

  /// The table of docs/reference/metrics.md.
  package func reference<Report>() -> String where Element == MetricFamily<Report> {
    "| metric | type | labels | meaning |\n|---|---|---|---|\n"
      + map { family in
        let labels = family.labels.names.map { "`\($0)`" }.joined(separator: ", ")
        return "| `\(family.name)` | \(family.kind.rawValue) | \(labels) | \(family.help) |\n"
      }.joined()
  }
}

extension MetricFamily {
  fileprivate func write(_ series: MetricSeries, to page: inout String) {
    let pairs = zip(labels.names, series.labels).map { "\($0)=\"\($1.labelEscaped)\"" }
    func line(_ suffix: String = "", extra: [String] = [], value: String) {
      let labels = (pairs + extra).joined(separator: ",")
      page += name + suffix + (labels.isEmpty ? "" : "{\(labels)}") + " \(value)\n"
    }
    guard case .histogram(let histogram) = series.value else {
      return line(value: series.value.text)
    }
    var total = 0
    for (bound, count) in zip(MetricHistogram.boundsMicroseconds, histogram.counts) {
      total += count
      line("_bucket", extra: ["le=\"\(MetricValue.microseconds(bound).text)\""], value: "\(total)")
    }
    line("_bucket", extra: ["le=\"+Inf\""], value: "\(histogram.count)")
    line("_sum", value: MetricValue.microseconds(histogram.sumMicroseconds).text)
    line("_count", value: "\(histogram.count)")
  }
}

extension MetricValue {
  /// As it is written; a histogram has no one number.
  var text: String {
    switch self {
    case .integer(let whole): return String(whole)
    case .decimal(let value): return value.description
    case .histogram(let histogram): return String(histogram.count)
    case .microseconds(let microseconds):
      let (seconds, rest) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
      var text = (microseconds < 0 ? "-" : "") + String(seconds)
      guard rest > 0 else { return text }
      var digits = String(rest + 1_000_000).dropFirst()
      while digits.last == "0" { digits.removeLast() }
      text += "." + digits
      return text
    }
  }
}

extension String {
  fileprivate var helpEscaped: String {
    split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\\\")
      .split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\\n")
  }

  fileprivate var labelEscaped: String {
    helpEscaped.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"")
  }
}
