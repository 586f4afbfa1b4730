import Foundation
import Trials

/// A row of the table of trials: what it is called, the options it takes and what it does.
struct Trial: Sendable {
  let name: String
  let about: String
  /// By name, with what each is if it is not given.
  let options: [(name: String, standard: String)]
  let run: @Sendable (TrialOptions) async throws -> Void

  static let all =
    days + [chaosRunner] + interruptions + troubles + stores + gateways + paper

  /// Its options, one a line.
  var help: String {
    let lines = options.map { "  --\($0.name) \($0.standard)" }
    return ([name, "  \(about)"] + lines).joined(separator: "\n")
  }
}

extension Trial {
  init(
    _ name: String, _ about: String, options: KeyValuePairs<String, String>,
    run: @escaping @Sendable (TrialOptions) async throws -> Void
  ) {
    self.init(name: name, about: about, options: options.map { ($0.key, $0.value) }, run: run)
  }

  /// A section of the chaos runner: it ends in time, and its verdict says PASS or FAIL; one that
  /// could not run has none.
  static func chaos(
    _ name: String, _ about: String, options: KeyValuePairs<String, String>,
    run: @escaping @Sendable (TrialOptions) async throws -> ChaosVerdict?
  ) -> Trial {
    let common: KeyValuePairs = [
      "seed": "1", "binary": DaemonProcess.besideThisProcess, "limit": "1800",
    ]
    let own = Set(options.map(\.key))
    let all = (options.map { $0 } + common.filter { !own.contains($0.key) }).map {
      ($0.key, $0.value)
    }
    return Trial(name: name, about: about, options: all) { options in
      Leftovers.endInTime(secondsMax: try options.number("limit"))
      let title = "\(name), seed \(try options.seed)"
      do {
        guard let verdict = try await run(options) else { return }
        for figure in verdict.figures { printLine("  \(figure)") }
        try conclude(title, verdict.complaints)
      } catch let error where !(error is UsageError || error is HasFailed) {
        try conclude(title, ["\(error)"])
      }
    }
  }
}

/// What a trial was told.
struct TrialOptions: Sendable {
  private var values: [String: String]
  /// What stands behind the name without an option.
  private(set) var names: [String] = []

  /// - Throws: `UsageError` for an option that the trial does not have.
  init(_ arguments: [String], of trial: Trial) throws {
    values = Dictionary(uniqueKeysWithValues: trial.options.map { ($0.name, $0.standard) })
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      guard argument.hasPrefix("--") else {
        names.append(argument)
        continue
      }
      let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1).map(String.init)
      guard let name = parts.first, let standard = values[name] else {
        throw UsageError("\(trial.name) has no option \(argument)\n\(trial.help)")
      }
      if standard == "false" {
        values[name] = "true"
      } else {
        guard let value = parts.count > 1 ? parts[1] : rest.popFirst() else {
          throw UsageError("\(argument) needs a value")
        }
        values[name] = value
      }
    }
  }

  func text(_ name: String) -> String { values[name] ?? "" }

  func flag(_ name: String) -> Bool { text(name) == "true" }

  /// - Throws: `UsageError` for what is no number.
  func number<Number: FixedWidthInteger>(_ name: String) throws -> Number {
    guard let number = Number(text(name)) else {
      throw UsageError("--\(name) is a number, and not \(text(name))")
    }
    return number
  }

  var seed: UInt64 { get throws { try number("seed") } }
  var instruments: Int { get throws { try number("instruments") } }
  var times: Int { get throws { try number("times") } }
  var binary: String { text("binary") }
  /// The second of the day at which it begins.
  var start: Int { get throws { try number("from") * 60 } }
}

struct UsageError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// It was said why.
struct HasFailed: Error {}

/// Says a line now, whatever buffers stand between.
func printLine(_ line: String) {
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

/// A section with thousands of complaints is understood from its first ones.
private let linesPerSectionMax = 20

/// Ends a trial.
func conclude(_ name: String, _ complaints: [String]) throws {
  try conclude(name, sections: [complaints])
}

/// Ends a trial of several sections, and prints the first complaints of each.
func conclude(_ name: String, sections: [[String]]) throws {
  for line in sections.flatMap({ $0.prefix(linesPerSectionMax) }) { printLine("  \(line)") }
  let count = sections.reduce(0) { $0 + $1.count }
  printLine(count == 0 ? "PASS \(name)" : "FAIL \(name): \(count) complaints")
  if count > 0 { throw HasFailed() }
}

func seconds(since start: Date) -> Int { Int(Date().timeIntervalSince(start)) }
