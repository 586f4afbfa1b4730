import Foundation
import Logging
import Operations

@testable import Ingest

extension Daemon {
  /// One whose sources are a port of the loopback on which nobody listens.
  /// - Parameters:
  ///   - folder: for `name.toml` and its state in `name`.
  ///   - store: a URL; nil for a private cluster.
  ///   - more: lines of its configuration, first of all.
  static func withoutUpstream(
    in folder: String, name: String = "daemon", store: String?, more: String = "",
    log: Logger = Logger(label: "daemon") { _ in SwiftLogNoOpLogHandler() }
  ) throws -> Daemon {
    let nobody = "http://127.0.0.1:9"
    let file = "\(folder)/\(name).toml"
    try """
    \(more)
    state_directory = "\(folder)/\(name)"
    quotes.symbols = ["sh600000"]
    sina.base = "\(nobody)"
    tencent.base = "\(nobody)"
    sina.history_base = "\(nobody)"
    sina.list_base = "\(nobody)"
    sina.reference_base = "\(nobody)"
    mairui.bases = ["\(nobody)"]
    alpaca.base = "\(nobody)"
    alpaca.trading_base = "\(nobody)"
    \(store.map { "store.url = \"\($0)\"" } ?? "")
    """.write(toFile: file, atomically: true, encoding: .utf8)
    return try Daemon(
      settings: ConfigurationFile.load(file, overrides: [], table: .candled), log: log)
  }
}
