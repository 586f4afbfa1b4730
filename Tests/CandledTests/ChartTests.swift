import Foundation
import TestSupport
import TestTraits
import Testing

@Suite(.ownThread) struct `candled chart` {
  @Test func `draws the newest day to standard output, or to a file`() throws {
    let morning = try SimulatedMorning.get()
    let printed = try morning.ask("chart", "SH000001", "--period", "1d")
    #expect(printed.status == 0 && printed.errors.isEmpty, "\(printed.errors)")
    #expect(printed.output.hasPrefix("<svg ") && printed.output.hasSuffix("</svg>\n"))
    #expect(printed.output.contains("2026-07-06 09:30 to 2026-07-06 09:"))
    let file = try PrivateCluster.freshDirectory() + "/chart.svg"
    try Data("what was there before, and is longer".utf8).write(to: URL(filePath: file))
    let saved = try morning.ask("chart", "sh000001", "-o", file)
    #expect(saved.status == 0 && saved.output.isEmpty)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == printed.output)
  }

  @Test func `takes the size, the candles and the colours`() throws {
    let run = try SimulatedMorning.get().ask(
      "chart", "sh000001", "--interval", "1wk", "--width", "300", "--height", "200", "--theme",
      "dark", "--rising", "green")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.contains("viewBox=\"0 0 300 200\"") && run.output.contains(", 1w</title>"))
    #expect(run.output.contains(".u{stroke:#35c27c}"))
    #expect(!run.output.contains("prefers-color-scheme"))
  }

  @Test(arguments: [
    ["--period", "2d"], ["--interval", "after_hours"], ["--width", "20"], ["--height", "5000"],
    ["--theme", "grey"], ["--rising", "blue"],
  ])
  func `takes a slip in an option for a usage error`(option: [String]) throws {
    let run = try BuiltBinary.run(["chart", "sh000001"] + option)
    #expect(run.status == 64 && run.output.isEmpty)
    #expect(run.errors.contains(option[0].hasPrefix("--w") ? "--width" : option[0].dropFirst(2)))
  }

  @Test func `names the nearest instruments for an unknown one and exits 65`() throws {
    let run = try SimulatedMorning.get().ask("chart", "sh00001")
    #expect(run.status == 65 && run.output.isEmpty)
    #expect(run.errors.contains("nearest known: sh000001"))
    let other = try SimulatedMorning.get().ask("chart", "sh000001", "--source", "alpaca_iex")
    #expect(other.status == 65 && other.errors.contains("there are: sina"), "\(other.errors)")
  }

  @Test func `exits 73 where the file cannot be made, and 69 without a database`() throws {
    let run = try SimulatedMorning.get().ask("chart", "sh000001", "-o", "/proc/none/chart.svg")
    #expect(run.status == 73 && run.errors.contains("cannot create /proc/none/chart.svg"))
    let away = try BuiltBinary.run(
      ["chart", "sh000001", "--set", "state_directory=/tmp/candled-none"])
    #expect(away.status == 69 && away.output.isEmpty)
  }
}
