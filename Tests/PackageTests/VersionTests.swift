/// The versions `script/package` gives without being told one, in a repository of the test's own;
/// the tools that take long are replaced by ones that do not.

import Foundation
import Testing

@Suite(
  .enabled(
    if: BuiltPackage.obstacle == nil && Program.path(of: "git") != nil,
    "\(BuiltPackage.obstacle ?? "no git")"))
struct VersionTests {
  private static let tools = [
    "candled": #"[ "$1" != --version ] || echo 0.1.0"#,
    "candled-demo": "",
    "candled-gateway": "",
    "strip": #"cp "$3" "$2""#,
    "dpkg-shlibdeps": "echo shlibs:Depends=libc6",
  ]

  private let root = FileManager.default.temporaryDirectory.path + "/candled-version-\(UUID())"

  private func run(_ program: String, _ arguments: String...) async throws -> String {
    let path = "PATH=\(root)/tools:/usr/sbin:/usr/bin:/sbin:/bin"
    let run = try await Program.run("/usr/bin/env", [path, program] + arguments)
    guard run.status == 0 else { throw Scenario.Failed(description: run.output) }
    return run.output.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private func git(_ arguments: String...) async throws {
    let who = ["-c", "user.name=candled", "-c", "user.email=candled@localhost"]
    let run = try await Program.run("/usr/bin/env", ["git", "-C", root] + who + arguments)
    guard run.status == 0 else { throw Scenario.Failed(description: run.output) }
  }

  private func makeRepository() async throws {
    let files = FileManager.default
    try files.createDirectory(atPath: root + "/tools", withIntermediateDirectories: true)
    let documents = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs"]
    for name in documents + ["config", "schema.sql", "script", "systemd"] {
      try files.copyItem(atPath: "\(BuiltPackage.root)/\(name)", toPath: "\(root)/\(name)")
    }
    for (name, line) in Self.tools {
      let path = "\(root)/tools/\(name)"
      try "#!/bin/sh\n\(line)\n".write(toFile: path, atomically: true, encoding: .utf8)
      try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }
    try await git("init", "--quiet")
    try await git("add", ".")
  }

  /// As dpkg sees it.
  private func version() async throws -> String {
    let package = try await run(
      root + "/script/package", "--binary", root + "/tools/candled", "--output", root + "/out")
    return try await run("dpkg-deb", "--field", package, "Version")
  }

  @Test func `a release is newer than what led to it, and older than what follows`() async throws {
    defer { try? FileManager.default.removeItem(atPath: root) }
    try await makeRepository()
    var versions: [String] = []
    // A tag that begins like the release's is none.
    for tag in ["v0.1.0-draft", "v0.1.0", nil] {
      try await git("commit", "--quiet", "--allow-empty", "--message", "Go on")
      if let tag { try await git("tag", tag) }
      versions.append(try await version())
    }
    #expect(versions[0].wholeMatch(of: /0\.1\.0~git\d{14}\.[0-9a-f]{8}/) != nil, "\(versions)")
    #expect(versions[1] == "0.1.0")
    #expect(versions[2].wholeMatch(of: /0\.1\.0\+git\d{14}\.[0-9a-f]{8}/) != nil, "\(versions)")
    for (older, newer) in zip(versions, versions.dropFirst()) {
      _ = try await run("dpkg", "--compare-versions", older, "lt", newer)
    }
  }
}
