import Foundation
import Glibc
import TestSupport
import TestTraits
import Testing

/// Paths that lead where no file of ours belongs.
@Suite(.ownThread) struct `A path` {
  private let folder: String

  init() throws {
    folder = try PrivateCluster.freshDirectory()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    // The server's user must pass it.
    chmod(folder, 0o755)
  }

  private func file(_ name: String) throws -> String {
    let path = folder + "/" + name
    try "precious".write(toFile: path, atomically: false, encoding: .utf8)
    return path
  }

  @Test func `of a file is no admin socket: check and run refuse it, and it stays`() throws {
    let file = try file("ledger")
    let settings = [
      "--set", "admin.listen=\(file)", "--set", "quotes.symbols=sh600519",
      "--set", "state_directory=\(folder)/state",
    ]
    let check = try BuiltBinary.run(["check", "--offline"] + settings)
    #expect(check.status == 78, "\(check.output)")
    #expect(check.output.contains("admin.listen"))
    #expect(check.output.contains("\(file) exists and is not a socket"))
    let run = try BuiltBinary.run(["run"] + settings)
    #expect(run.status == 78)
    #expect(run.errors == "candled: admin.listen: \(file) exists and is not a socket\n")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "precious")
  }

  @Test func `that is a link is no folder to keep a demo in`() throws {
    let target = folder + "/target"
    try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
    let link = folder + "/link"
    #expect(symlink(target, link) == 0)
    for spelling in [link, link + "/"] {
      let demo = try BuiltBinary.runDemo("--keep", spelling)
      #expect(demo.status == 73, "\(demo.errors)")
      #expect(demo.errors == "candled-demo: \(link) is a symbolic link: name a folder\n")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: target) == [])
  }

  @Test func `that is not ours alone is opened as no demo`() throws {
    let kept = folder + "/kept"
    #expect(mkdir(kept, 0o700) == 0)
    #expect(mkfifo(kept + "/demo.txt", 0o600) == 0)
    let pipe = try BuiltBinary.runDemo("--open", kept)
    #expect(pipe.status == 66 && pipe.errors == "candled-demo: \(kept)/demo.txt is not a file\n")
    #expect(unlink(kept + "/demo.txt") == 0 && symlink("/etc/hostname", kept + "/demo.txt") == 0)
    let link = try BuiltBinary.runDemo("--open", kept)
    #expect(link.status == 66 && link.errors.hasPrefix("candled-demo: \(kept)/demo.txt: "))
    #expect(chmod(kept, 0o777) == 0)
    let open = try BuiltBinary.runDemo("--open", kept)
    #expect(
      open.status == 66
        && open.errors
          == "candled-demo: \(kept) is writable by others: run chmod go-w, or name another folder\n"
    )
    #expect(try FileManager.default.contentsOfDirectory(atPath: kept) == ["demo.txt"])
  }

  @Test func `of a folder that others may change keeps no demo`() throws {
    let open = folder + "/open"
    #expect(mkdir(open, 0o700) == 0 && chmod(open, 0o777) == 0)
    let demo = try BuiltBinary.runDemo("--keep", open)
    #expect(demo.status == 73)
    #expect(
      demo.errors
        == "candled-demo: \(open) is writable by others: run chmod go-w, or name another folder\n")
    #expect(try FileManager.default.contentsOfDirectory(atPath: open) == [])
  }

  @Test func `of a folder that is not there keeps a demo, folders above it included`() throws {
    let kept = folder + "/new/above/kept"
    let demo = try RunningBinary.demo(
      "--keep", kept, "--speed", "600", "--instruments", "30", "--days", "0")
    #expect(demo.logContains("look inside"), "\(demo.captured)")
    demo.signal(SIGINT)
    #expect(try demo.ended() == 0, "\(demo.captured)")
    #expect(access(kept + "/journal", F_OK) == 0)
  }

  @Test(.enabled(if: geteuid() == 0, "only root may give a folder away"))
  func `of another user's folder keeps no demo`() throws {
    let foreign = folder + "/foreign"
    #expect(mkdir(foreign, 0o755) == 0 && chown(foreign, 61_000, 61_000) == 0)
    let demo = try BuiltBinary.runDemo("--keep", foreign)
    #expect(demo.status == 73)
    #expect(
      demo.errors == "candled-demo: \(foreign) belongs to another user: name another folder\n")
    #expect(try FileManager.default.contentsOfDirectory(atPath: foreign) == [])
  }

  @Test func `of a link within a kept demo is not written through`() throws {
    let file = try file("ledger")
    let kept = folder + "/above/kept"
    #expect(mkdir(folder + "/above", 0o755) == 0)
    #expect(mkdir(kept, 0o755) == 0 && symlink(file, kept + "/alpaca.key") == 0)
    let demo = try BuiltBinary.runDemo("--keep", kept)
    #expect(demo.status == 73, "\(demo.errors)")
    #expect(demo.errors.contains("\(kept)/alpaca.key: Too many levels of symbolic links"))
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "precious")
  }
}
