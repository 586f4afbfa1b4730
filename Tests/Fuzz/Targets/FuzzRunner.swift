import CFuzzer
import Glibc

/// `script/fuzz` builds this under libFuzzer and AddressSanitizer; `swift build` never sees it.
///
///     candled-fuzz targets                     their names, one a line
///     candled-fuzz seeds TARGET FOLDER         the corpus to start from, of our own fixtures
///     candled-fuzz TARGET [libFuzzer's options and folders]
@main
enum FuzzRunner {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    switch (arguments.first, arguments.count) {
    case ("targets", 1):
      for target in FuzzTarget.allCases { puts(target.rawValue) }
    case ("seeds", 3):
      guard let target = FuzzTarget(rawValue: arguments[2]) else { return usage() }
      target.writeSeeds(to: arguments[3])
    case (let name?, _):
      guard let target = FuzzTarget(rawValue: name) else { return usage() }
      run(target)
    default: usage()
    }
  }

  private static func usage() {
    fputs(
      "candled-fuzz: targets | seeds TARGET FOLDER | TARGET [libFuzzer's options]\n", stderrFile)
    exit(EX_USAGE)
  }

  /// Hands everything behind the target's name to libFuzzer, which does not come back.
  private static func run(_ target: FuzzTarget) {
    FuzzTarget.current = target
    var arguments =
      [CommandLine.unsafeArgv[0]]
      + (2..<Int(CommandLine.argc)).map {
        CommandLine.unsafeArgv[$0]
      }
    arguments.append(nil)
    var count = Int32(arguments.count - 1)
    let status = arguments.withUnsafeMutableBufferPointer { buffer -> Int32 in
      var start = buffer.baseAddress
      return LLVMFuzzerRunDriver(&count, &start) { @Sendable data, size in
        FuzzTarget.current.take(UnsafeRawBufferPointer(start: data, count: size))
        return 0
      }
    }
    exit(status)
  }

  private static var stderrFile: UnsafeMutablePointer<FILE>? { fdopen(2, "w") }
}
