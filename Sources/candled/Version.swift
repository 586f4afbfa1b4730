/// `candled version`: what a bug report needs to know of the build.

import Admin
import ArgumentParser
import Commands
import Operations

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
    try StandardOutput.write(BuildVersion.line(of: "candled", asJSON: json) + "\n")
  }
}
