/// `candled-gateway version`: what a bug report needs to know of the build.

import ArgumentParser
import Commands
import Operations

struct VersionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "version",
    abstract: "Print the version.",
    discussion: Help.discussion(
      "The version, and how it was built.",
      examples: [
        "candled-gateway version": "as text",
        "candled-gateway version --json": "for scripts",
      ]))

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    try StandardOutput.write(BuildVersion.line(of: "candled-gateway", asJSON: json) + "\n")
  }
}
