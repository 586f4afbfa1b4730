import Foundation
import Glibc
import TestSupport
import TestTraits
import Testing

@Suite(.ownThread) struct `candled config` {
  @Test func `gives an example that it accepts itself`() throws {
    let example = try BuiltBinary.run(["config", "example"])
    #expect(example.status == 0)
    let print = try BuiltBinary.run(
      ["config", "print", "--config", "/dev/stdin"], input: Array(example.output.utf8))
    #expect(print.status == 0)
    #expect(print.errors.isEmpty)
    #expect(print.output.contains("[sina]"))
  }

  @Test func `says who set a value`() throws {
    let run = try BuiltBinary.run(
      ["config", "print", "--json", "--config", "/dev/stdin", "--set", "quotes.cadence=6s"],
      input: Array("[quotes]\nphase = \"500ms\"\n".utf8))
    #expect(run.status == 0)
    let lines = run.output.split(separator: "\n").map(String.init)
    let phase = #"{"key":"quotes.phase","value":"\"500ms\"","origin":"/dev/stdin","line":2}"#
    let cadence = #"{"key":"quotes.cadence","value":"\"6s\"","origin":"--set","line":null}"#
    #expect(lines.contains(phase))
    #expect(lines.contains(cadence))
  }

  @Test func `prints every problem with file, line and the nearest name, and exits 78`() throws {
    let run = try BuiltBinary.run(
      ["config", "print", "--config", "/dev/stdin"],
      input: Array("[quotes]\ncadense = \"3s\"\nphase = 4\n".utf8))
    #expect(run.status == 78)
    #expect(run.output.isEmpty)
    let lines = run.errors.split(separator: "\n")
    #expect(
      lines.first == """
        candled: /dev/stdin:2: quotes.cadense: unknown setting; did you mean quotes.cadence?
        """)
    #expect(lines.count == 2)
  }

  @Test func `exits 66 without the file it was given`() throws {
    let run = try BuiltBinary.run(["config", "print", "--config", "/nonexistent.toml"])
    #expect(run.status == 66)
    #expect(run.output.isEmpty)
  }

  @Test func `never prints the password of the store`() throws {
    let run = try BuiltBinary.run(
      ["config", "print", "--config", "/dev/stdin"],
      input: Array("[store]\nurl = \"postgres://me:hunter2@db/x\"\n".utf8))
    #expect(run.status == 0)
    #expect(!run.output.contains("hunter2"))
  }
}

@Suite(.ownThread) struct `candled check` {
  private func check(_ configuration: String, _ more: String...) throws -> BuiltBinary.Run {
    try BuiltBinary.run(
      ["check", "--config", "/dev/stdin"] + more, input: Array(configuration.utf8))
  }

  @Test func `finds nothing wrong with the example`() throws {
    let example = try BuiltBinary.run(["config", "example"])
    let run = try check(example.output, "--offline", "--set", "state_directory=/tmp/candled-none")
    #expect(run.status == 0)
    #expect(!run.output.contains("false"))
  }

  @Test func `wants instruments`() throws {
    let run = try check("", "--offline", "--json")
    #expect(run.status == 78)
    #expect(run.output.contains(#"{"check":"symbols","ok":false,"#))
  }

  @Test(arguments: [
    (nil, "cannot be opened: No such file or directory", 66),
    ("", "is empty, expected one line", 78),
    ("canary\n", "others can read it: chmod 600", 78),
  ])
  func `names a bad file of the store's password, and the setting`(
    text: String?, reason: String, status: Int32
  ) throws {
    let path = try PrivateCluster.freshDirectory() + "/password"
    if let text {
      #expect(FileManager.default.createFile(atPath: path, contents: Data(text.utf8)))
      #expect(chmod(path, text.isEmpty ? 0o600 : 0o644) == 0)
    }
    let configuration =
      "[store]\nurl = \"postgres://127.0.0.1:1/x\"\npassword_file = \"\(path)\"\n"
      + "[quotes]\nsymbols = [\"sh600519\"]\n[sina]\n"
      + ["base", "history_base", "list_base", "reference_base"].map {
        "\($0) = \"http://127.0.0.1:1\"\n"
      }.joined()
    let state = "state_directory=/tmp/candled-none"
    let checked = try check(configuration, "--offline", "--set", state)
    #expect(checked.status == status)
    let sentence = "\(path): store.password_file: \(reason)"
    #expect(checked.output.contains(sentence), "\(checked.output)")
    for command in [["run"], ["schema", "apply"]] {
      let run = try BuiltBinary.run(
        command + ["--config", "/dev/stdin", "--set", state], input: Array(configuration.utf8))
      #expect(run.status == status)
      #expect(run.errors.contains(sentence) && !run.errors.contains("canary"), "\(run.errors)")
    }
  }

  @Test(arguments: [
    "postgres://candled:canary7/x==@127.0.0.1:1/c", "postgres://127.0.0.1:1/c?sslmode=canary7",
    "postgres://candled:what?canary7@127.0.0.1:canary7/c",
  ])
  func `an address of the store that can never work exits 78, and is not repeated`(
    url: String
  ) throws {
    let configuration = "quotes.symbols = [\"sh600519\"]\nstore.url = \"\(url)\"\n"
    let bases = ["base", "history_base", "list_base", "reference_base"].flatMap {
      ["--set", "sina.\($0)=http://127.0.0.1:1"]
    }
    for command in ["check", "run", "status"] {
      let state = try PrivateCluster.freshDirectory()
      let run = try BuiltBinary.run(
        [command, "--config", "/dev/stdin", "--set", "state_directory=\(state)"] + bases,
        input: Array(configuration.utf8))
      #expect(run.status == 78, "\(command): \(run.errors)")
      #expect(!(run.output + run.errors).contains("canary7"), "\(command)")
    }
  }

  @Test(arguments: ["mairui.licence_file", "alpaca.key_file"])
  func `names a bad file of keys, and the setting`(setting: String) throws {
    let path = try PrivateCluster.freshDirectory() + "/keys"
    #expect(
      FileManager.default.createFile(
        atPath: path, contents: Data("canary-1 canary-2 canary-3\n".utf8),
        attributes: [.posixPermissions: 0o600]))
    let expected = setting.hasPrefix("mairui") ? "one word" : "2 words"
    for (file, place, reason) in [
      (path, "\(path):1", "expected \(expected) of printable ASCII"),
      ("\(path)-none", "\(path)-none", "cannot be opened: No such file or directory"),
      ("credential:a/b", "credential:a/b", "expected the name of a credential"),
    ] {
      let run = try check(
        "quotes.symbols = [\"sh600519\"]\n\(setting) = \"\(file)\"\n", "--offline",
        "--set", "state_directory=/tmp/candled-none")
      #expect(run.status != 0)
      #expect(run.output.contains("\(place): \(setting): \(reason)"), "\(run.output)")
      #expect(!(run.output + run.errors).contains("canary"))
    }
  }

  @Test func `says that a database is not there and exits 69`() throws {
    // Port 1 is reserved (tcpmux): nothing listens there.
    let run = try check(
      "[store]\nurl = \"postgres://127.0.0.1:1/x\"\n[quotes]\nsymbols = [\"sh600519\"]\n",
      "--json", "--set", "state_directory=/tmp/candled-none")
    #expect(run.status == 69)
    #expect(run.output.contains(#"{"check":"database","ok":false,"#))
  }
}

@Suite(.ownThread) struct `candled schema` {
  @Test func `prints SQL`() throws {
    let run = try BuiltBinary.run(["schema", "print"])
    #expect(run.status == 0)
    #expect(run.output.contains("create table if not exists candle ("))
  }

  @Test(arguments: ["apply", "check"])
  func `exits 69 where there is no database`(command: String) throws {
    let run = try BuiltBinary.run(
      ["schema", command, "--set", "state_directory=/tmp/candled-none"])
    #expect(run.status == 69)
    #expect(run.output.isEmpty)
    #expect(run.errors.contains("candled run"))
  }
}
