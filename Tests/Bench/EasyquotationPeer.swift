/// easyquotation's own parser on the same bytes, installed from PyPI into a folder that goes again.
///
/// The version is pinned. Only its parsing function is timed, on text decoded beforehand, by
/// Python's own clock: the comparison leaves out what would flatter us.

import Glibc
import TestSupport

enum EasyquotationPeer {
  enum Result {
    case measured(BenchRow)
    case skipped(String)
  }

  static let version = "0.7.7"

  static func measure(_ body: [UInt8]) -> Result {
    guard let folder = temporaryFolder() else { return .skipped("no temporary folder") }
    defer { _ = run("rm -rf '\(folder)'") }
    guard write(body, to: folder + "/body.gb18030"),
      write(Array(script.utf8), to: folder + "/peer.py")
    else { return .skipped("the temporary folder takes no files") }
    guard run("python3 -m venv '\(folder)/venv' >/dev/null 2>&1") != nil else {
      return .skipped("python3 with venv is not installed")
    }
    let install = "timeout 180 '\(folder)/venv/bin/pip' install -q easyquotation==\(version)"
    guard run(install + " >/dev/null 2>&1") != nil else {
      return .skipped("pip could not install easyquotation \(version)")
    }
    let command = "'\(folder)/venv/bin/python' '\(folder)/peer.py' '\(folder)/body.gb18030' 2>&1"
    guard let output = run(command), let row = row(from: output) else {
      return .skipped("its parser did not run")
    }
    return .measured(row)
  }

  /// The parser logs nothing and needs no network; its constructor is passed over because it
  /// updates a list of codes.
  private static let script = """
    import sys, time
    from easyquotation.sina import Sina
    text = open(sys.argv[1], 'rb').read().decode('gb18030')
    parser = Sina.__new__(Sina)
    for _ in range(9):
        start = time.perf_counter()
        rows = parser.format_response_data([text], prefix=True)
        print((time.perf_counter() - start) * 1000, len(rows))
    """

  /// Lines of milliseconds and rows parsed.
  private static func row(from output: String) -> BenchRow? {
    var rows = 0
    var result = BenchRow("")
    for line in output.split(separator: "\n") {
      let parts = line.split(separator: " ")
      guard parts.count == 2, let milliseconds = Double(parts[0]), let count = Int(parts[1]) else {
        return nil
      }
      result.rounds.append(milliseconds)
      rows = count
    }
    var named = BenchRow("easyquotation \(version), \(rows) rows")
    named.rounds = result.rounds
    return result.rounds.isEmpty ? nil : named
  }

  private static func temporaryFolder() -> String? {
    var template = Array("/tmp/candled-bench-XXXXXX".utf8CString)
    return template.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress, let made = mkdtemp(base) else { return nil }
      return String(cString: made)
    }
  }

  private static func write(_ bytes: [UInt8], to path: String) -> Bool {
    guard let file = fopen(path, "w") else { return false }
    let written = fwrite(bytes, 1, bytes.count, file)
    return fclose(file) == 0 && written == bytes.count
  }

  /// What the command printed; nil if it failed.
  private static func run(_ command: String) -> String? {
    Shell.output(of: command).map { String(decoding: $0, as: UTF8.self) }
  }
}
