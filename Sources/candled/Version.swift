/// `candled version`: what a bug report needs to know of the build.

import Admin
import ArgumentParser
import Operations
import TerminalView

extension BuildFacts {
  static let current = BuildFacts(
    version: BuildVersion.current, swift: BuildVersion.swift,
    configuration: BuildVersion.configuration)
}

struct Version: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the version.",
    discussion: Help.discussion(
      "The version, and how it was built.",
      examples: [
        "candled version": "as text",
        "candled version --json": "for scripts",
      ])
  )

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    try StandardOutput.write(lines: [json ? object : sentence])
  }

  private var sentence: String {
    "candled \(BuildVersion.current) (\(BuildVersion.configuration), Swift \(BuildVersion.swift), "
      + "\(BuildVersion.architecture))"
  }

  private var object: String {
    JSONText.object([
      ("name", .text("candled")), ("version", .text(BuildVersion.current)),
      ("configuration", .text(BuildVersion.configuration)),
      ("swift", .text(BuildVersion.swift)), ("architecture", .text(BuildVersion.architecture)),
    ])
  }
}
