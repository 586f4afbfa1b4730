/// Replicas as the daemon looks at them, beside what it writes.

import Market
import Postgres

extension StoreWriter {
  /// To be asked now and then: a replica that is gone keeps the server's log.
  /// - Throws: `connectionLost`, `transient`.
  package func replicas() throws(StoreError) -> [ReplicaLink] {
    try ReplicaLink.all(of: session.opened().connection)
  }
}
