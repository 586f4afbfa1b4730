import Glibc
import Ingest
import Operations
import Store

/// The folder of a demo that was kept: its database can be opened again, without polling.
struct KeptDemo {
  let path: String

  /// What came of it; the file also tells such a folder from a daemon's.
  static let summaryName = "demo.txt"
  private static let summaryBytesMax = 4_096

  init(_ path: String) { self.path = path }

  var isThere: Bool { access(summaryPath, F_OK) == 0 }

  /// Why it cannot be asked; nil if it is no demo's folder.
  var closedSentence: String? {
    isThere ? "\(path) holds a demo that is closed: `candled demo --open \(path)` opens it" : nil
  }

  /// Runs its PostgreSQL until a signal.
  func serve() async throws {
    guard isThere else {
      throw CommandFailure(status: .noInput, sentence: "\(path) holds no kept demo")
    }
    let server = EmbeddedServer(directory: path + "/postgres")
    let isOpen = server.isRunning
    try await CommandFailure.translating {
      try server.start()
      try Schema.applyIfDifferent(url: server.ownerConnectionString)
    }
    let (signals, inbox) = AsyncStream.makeStream(of: Void.self)
    try ServiceSignals.watch { inbox.yield() }
    defer { if !isOpen { try? server.stop() } }
    let end = isOpen ? "it is open already, and stays so" : "Ctrl-C stops its PostgreSQL"
    try StandardOutput.write(
      """
      \(summary)  look inside   \(server.psqlLine)
                      candled query audit --set state_directory=\(path)
      \(end)

      """)
    if isOpen { return }
    for await _ in signals { return }
  }

  private var summaryPath: String { path + "/" + Self.summaryName }

  private var summary: String {
    let file = Glibc.open(summaryPath, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: Self.summaryBytesMax)
    let count = read(file, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
  }
}
