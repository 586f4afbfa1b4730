/// `script/tidy-report`: the limits, then what stands behind the numbers that are not there yet.

@main struct TidyReport {
  let measured: Measurement

  static func main() throws {
    let report = TidyReport(measured: try Measurement.ofTree())
    // Safe: the report is the result of the command.
    print(report.text)
  }

  private static let longest = 10

  var text: String {
    [
      limits, shape, labels, list("Stored properties", measured.properties),
      list("Type+Aspect files", measured.aspectFiles),
      list("Lines with a vendor's name outside its folder", measured.vendorLines),
      list("public outside the client's surface", measured.publics),
    ].map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
  }

  private var limits: [String] {
    [row("", ["now", "at most", "target"])]
      + TidyLimit.all.map { limit in
        let value = limit.value(measured)
        let mark = value > limit.today ? "  worse" : value > limit.target ? "  not there yet" : ""
        return row(limit.name, [value, limit.today, limit.target].map(String.init)) + mark
      }
  }

  private var shape: [String] {
    [row("Lines", ["median", "p90", "most"])]
      + [("functions", measured.functionLines), ("files", measured.fileLines)].map { name, lines in
        row(name, [50, 90, 100].map { String(lines.percentile($0)) })
      }
  }

  private var labels: [String] {
    let modules = measured.labels.sorted {
      ($1.value.permille, $0.key) < ($0.value.permille, $1.key)
    }
    return [row("Parameters after the first", ["all", "no label", "‰"])]
      + ([("all modules", measured.allLabels)] + modules.map { ($0.key, $0.value) }).map {
        name, labels in
        row(name, [labels.later, labels.unlabelled, labels.permille].map(String.init))
      }
  }

  private func list(_ title: String, _ counts: [Measurement.Count]) -> [String] {
    [row(title, [String(counts.total)])]
      + counts.prefix(Self.longest).map { row($0.name, [String($0.count)]) }
  }

  private func row(_ name: String, _ cells: [String]) -> String {
    ([name] + cells).enumerated().map { index, cell in
      let padding = String(repeating: " ", count: max(0, (index == 0 ? 56 : 9) - cell.count))
      return index == 0 ? cell + padding : padding + cell
    }.joined()
  }
}
