/// What `schema check` prints, of whichever schema.

import Operations
import TerminalView

package enum SchemaDifferences {
  /// Prints a line per difference, or all of them as one JSON object.
  /// - Throws: exit status 65 if there is one.
  package static func report(
    _ differences: [String], version: Int, asJSON json: Bool
  ) throws(CommandFailure) {
    let object = JSONText.object([
      ("version", .integer(Int64(version))), ("differences", .list(differences)),
    ])
    try StandardOutput.write(lines: json ? [object] : differences)
    if !differences.isEmpty { throw CommandFailure.silent(.dataError) }
  }
}
