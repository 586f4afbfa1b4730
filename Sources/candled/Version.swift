/// `candled version`: what a bug report needs to know of the build.

import ArgumentParser
import Commands
import Operations

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
