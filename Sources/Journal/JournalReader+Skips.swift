/// Reading over numbers that were never used: after a takeover a journal goes on behind the other
/// daemon's position. Whoever reads all of a journal uses this; the engine does not, for it begins
/// behind such a place, and what is missing there is lost.

import Market

extension JournalReader {
  /// Reads as `next`, but steps over missing positions where a later segment goes on.
  /// - Throws: `damaged`, `system`.
  package func nextOverSkips() throws(JournalError) -> (
    position: JournalPosition, entry: JournalEntry
  )? {
    while true {
      do throws(JournalError) {
        return try next()
      } catch {
        guard error.code == .missing, try skipDamage() != nil else { throw error }
      }
    }
  }
}
