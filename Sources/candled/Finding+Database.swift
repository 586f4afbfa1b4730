/// What `candled check` looks at beyond the configuration itself: the database.

import Commits
import EmbeddedPostgres
import Ingest
import Market
import Operations
import Postgres
import Store

extension Finding {
  static func database(_ settings: Settings) -> Finding {
    if settings.storeURL == nil, !settings.embeddedServer.isRunning {
      return serverBinaries
    }
    do {
      let differences = try Schema.check(url: settings.storeAddress())
      guard let first = differences.first else {
        return Finding(check: "database", detail: "schema version \(Schema.version)")
      }
      return Finding(check: "database", status: .dataError, detail: first)
    } catch let error as StoreError {
      return Finding(
        check: "database", status: CommandFailure(error).status, detail: error.description)
    } catch {
      return Finding(check: "database", status: .unavailable, detail: "not running")
    }
  }

  /// The private cluster is made by the first run; all it needs is a server.
  private static var serverBinaries: Finding {
    guard let binaries = ServerBinaries.installed().first else {
      return Finding(
        check: "database", status: .unavailable,
        detail: "no PostgreSQL server programs: run apt-get install postgresql")
    }
    return Finding(
      check: "database",
      detail: "embedded PostgreSQL \(binaries.major), not running: `candled run` starts it")
  }
}
