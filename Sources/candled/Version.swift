/// `candled version`: what a bug report needs to know of the build.

import Admin
import ArgumentParser
import TerminalView

enum BuildVersion {
  /// The one place where the version stands.
  static let current = "0.1.0"

  #if compiler(>=6.4)
    static let swift = "6.4 or later"
  #elseif compiler(>=6.3)
    static let swift = "6.3"
  #else
    static let swift = "6.2"
  #endif

  #if DEBUG
    static let configuration = "debug"
  #else
    static let configuration = "release"
  #endif

  #if arch(x86_64)
    static let architecture = "x86_64"
  #elseif arch(arm64)
    static let architecture = "aarch64"
  #else
    static let architecture = "other"
  #endif
}

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
