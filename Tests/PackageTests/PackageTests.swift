/// The file `script/package` makes, looked into without installing it.

import Foundation
import Testing

@Suite(.enabled(if: BuiltPackage.obstacle == nil, "\(BuiltPackage.obstacle ?? "")"))
struct PackageTests {
  /// `CANDLED_RECORD=1 swift test` writes the list anew; then read the difference.
  @Test func `holds what the list says, with these modes, all of it root's`() async throws {
    let rows = try await BuiltPackage.old.value.output(of: "--contents").map { row in
      let words = row.split(separator: " ", omittingEmptySubsequences: true)
      return "\(words[0]) \(words[1]) \(words[5])"
    }
    let list = rows.joined(separator: "\n") + "\n"
    let path = BuiltPackage.root + "/Tests/PackageTests/Golden/contents.txt"
    if ProcessInfo.processInfo.environment["CANDLED_RECORD"] != nil {
      try list.write(toFile: path, atomically: true, encoding: .utf8)
    }
    let expected = try String(contentsOfFile: path, encoding: .utf8)
    #expect(list == expected)
  }

  @Test func `names what it needs`() async throws {
    var fields: [String: String] = [:]
    for line in try await BuiltPackage.old.value.output(of: "--field") {
      let parts = line.split(separator: ": ", maxSplits: 1).map(String.init)
      if parts.count == 2 { fields[parts[0]] = parts[1] }
    }
    #expect(fields["Package"] == "candled" && fields["Version"] == "0.1.0")
    #expect(fields["Recommends"] == "postgresql")
    let needed = (fields["Depends"] ?? "").split(separator: ", ")
    let packages = needed.compactMap { $0.split(separator: " ").first.map(String.init) }
    let libraries = ["libc6", "libcurl4", "libpq5", "libssl3", "libstdc++6", "libzstd1", "zlib1g"]
    for library in libraries {
      #expect(packages.contains { $0.hasPrefix(library) }, "\(packages)")
    }
    // Newer than any symbol of it: an older one does not know CURLOPT_QUICK_EXIT.
    #expect(needed.contains { $0.wholeMatch(of: #/libcurl4\w* \(>= 7\.87\)/#) != nil }, "\(needed)")
    #expect(Set(["ca-certificates", "procps", "systemd"]).isSubset(of: packages))
    #expect(fields.values.allSatisfy { $0.firstMatch(of: /@[A-Z_]+@/) == nil }, "\(fields)")
  }

  @Test func `asks before it changes what an administrator edits`() async throws {
    let package = try await BuiltPackage.old.value
    var files: [String] = []
    for row in try await package.output(of: "--contents") where row.hasPrefix("-") {
      guard let path = row.split(separator: " ").last?.dropFirst() else { continue }
      if path.hasPrefix("/etc/") { files.append(String(path)) }
    }
    let run = try await Program.run(
      "/usr/bin/env", ["dpkg-deb", "--info", package.path, "conffiles"])
    #expect(run.output.split(separator: "\n").map(String.init) == files && files.count == 2)
  }

  @Test func `is the same when it is made again`() async throws {
    let again = try await BuiltPackage(name: "again", version: "0.1.0").path
    let first = try await BuiltPackage.old.value.path
    #expect(FileManager.default.contentsEqual(atPath: first, andPath: again))
  }

  @Test(arguments: [["--colour", "x"], ["--binary"]])
  func `an option nobody knows is a usage error`(_ arguments: [String]) async throws {
    let run = try await Program.run(BuiltPackage.root + "/script/package", arguments)
    #expect(run.status == 64)
  }

  @Test func `a binary that is not there is no input`() async throws {
    let run = try await Program.run(
      BuiltPackage.root + "/script/package", ["--binary", "/nonexistent/candled"])
    #expect(run.status == 66)
    #expect(run.output == "package: /nonexistent/candled is no program\n")
  }
}
