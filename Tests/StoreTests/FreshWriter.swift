import Commits
import Store
import TestSupport

/// A writer that stands at the beginning of a fresh database.
func freshWriter(_ database: StoreDatabase) async throws -> StoreWriter {
  let writer = StoreWriter(url: database.url)
  try await writer.connect()
  _ = try await writer.load()
  return writer
}
