/// A script run as root on a machine that is gone afterwards (`Scenarios/throwaway`): an overlay of
/// this one's root in namespaces of its own, with or without systemd as its first process. What it
/// says comes in sections, `== name` and lines; each test looks at one.

import Foundation

struct Scenario: Sendable {
  /// The lines of each section; empty lines are left out.
  let sections: [String: [String]]
  /// All that was said, for when a test fails.
  let transcript: String

  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  /// Without a running systemd, as in an image being made.
  static let installed = Task { try await Scenario(running: "installed") }
  /// Run by systemd, as on a server.
  static let booted = Task { try await Scenario(running: "booted", arguments: ["--boot"]) }

  /// What this machine lacks for running any, nil if nothing.
  static let obstacle = obstacle(to: [])
  /// What it lacks for running one with systemd, nil if nothing.
  static let bootObstacle = obstacle ?? obstacle(to: ["--boot"])

  func callAsFunction(_ section: String) -> [String] { sections[section] ?? [] }

  private init(running name: String, arguments: [String] = []) async throws {
    let share = try Self.freshShare()
    defer { try? FileManager.default.removeItem(atPath: share) }
    for package in [try await BuiltPackage.old.value, try await BuiltPackage.new.value] {
      try FileManager.default.copyItem(atPath: package.path, toPath: "\(share)/\(package.name).deb")
    }
    let script = BuiltPackage.root + "/Tests/PackageTests/Scenarios/" + name
    let run = try await Program.run(Self.throwaway, [share, script] + arguments)
    transcript = (try? String(contentsOfFile: share + "/transcript", encoding: .utf8)) ?? ""
    sections = Self.sections(of: transcript)
    guard run.status == 0, sections["end"] != nil else {
      throw Failed(description: "\(name) ended with \(run.status): \(run.output)\n\(transcript)")
    }
  }

  private static let throwaway = BuiltPackage.root + "/Tests/PackageTests/Scenarios/throwaway"

  private static func sections(of transcript: String) -> [String: [String]] {
    var sections: [String: [String]] = [:]
    var name = ""
    for line in transcript.split(separator: "\n").map(String.init) {
      if line.hasPrefix("== ") { name = String(line.dropFirst(3)) }
      sections[name, default: []] += line.hasPrefix("== ") ? [] : [line]
    }
    return sections
  }

  private static func freshShare() throws -> String {
    let share = FileManager.default.temporaryDirectory.path + "/candled-share-\(UUID())"
    try FileManager.default.createDirectory(atPath: share, withIntermediateDirectories: true)
    return share
  }

  /// Asked of the machine itself, by having it run the least of scenarios.
  private static func obstacle(to arguments: [String]) -> String? {
    if let missing = BuiltPackage.obstacle { return missing }
    guard geteuid() == 0 else { return "not root" }
    do {
      let share = try freshShare()
      defer { try? FileManager.default.removeItem(atPath: share) }
      try "systemd-analyze --version\n".write(
        toFile: share + "/least", atomically: true, encoding: .utf8)
      let run = try Program.runBlocking(throwaway, [share, share + "/least"] + arguments)
      return run.status == 0 ? nil : "no throw-away machine \(arguments): \(run.output)"
    } catch {
      return "\(error)"
    }
  }
}
