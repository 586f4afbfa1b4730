import Commands
import Commits
import DaemonCommands
import EmbeddedPostgres
import Feeds
import Glibc
import Ingest
import Operations
import Store

/// A kept demo's database, opened again without polling.
extension KeptDemo {
  private static let summaryBytesMax = 4_096

  /// Runs its PostgreSQL until a signal.
  func serve() async throws {
    guard isThere else {
      throw CommandFailure(status: .noInput, sentence: "\(path) holds no kept demo")
    }
    try DemoFolder.check(path, otherwise: .noInput)
    let summary = try summary()
    let server = EmbeddedServer(directory: path + "/postgres")
    let isOpen = server.isRunning
    try server.start()
    try Schema.applyIfDifferent(
      url: server.ownerConnectionString, sources: SourceRegistry.rows, endingReaders: true
    ) {
      StandardError.writeLine("the schema is not applied yet, \($0)")
    }
    let (signals, inbox) = AsyncStream.makeStream(of: Void.self)
    try ServiceSignals.watch { inbox.yield() }
    defer { if !isOpen { try? server.stop() } }
    let end = isOpen ? "already open, stays open" : "Ctrl-C stops its PostgreSQL"
    try StandardOutput.write(
      """
      \(summary)  look inside   \(server.psqlLine)
                      candled query audit --set state_directory=\(path)
      \(end)

      """)
    if isOpen { return }
    for await _ in signals { return }
  }

  /// Without control characters: it goes to a terminal.
  private func summary() throws(CommandFailure) -> String {
    let file = Glibc.open(summaryPath, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { throw unreadable(": \(reason(errno))") }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw unreadable(" is not a file")
    }
    var bytes = [UInt8](repeating: 0, count: Self.summaryBytesMax)
    let count = read(file, &bytes, bytes.count)
    let text = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    var shown = String.UnicodeScalarView()
    shown.append(
      contentsOf: text.unicodeScalars.filter {
        $0 == "\n" || $0.properties.generalCategory != .control
      })
    return String(shown)
  }

  private func unreadable(_ what: String) -> CommandFailure {
    CommandFailure(status: .noInput, sentence: summaryPath + what)
  }
}
