import Operations
import TerminalView

/// What the programs print of a configuration.
extension Finding {
  /// Prints the checks as a table, or as one JSON object each.
  /// - Throws: the status of the first that did not pass.
  package static func report(_ findings: [Finding], asJSON json: Bool) throws(CommandFailure) {
    try StandardOutput.write(
      ResultWriter.text(
        format: json ? .jsonl : .table,
        columns: [ResultColumn("check"), ResultColumn("ok"), ResultColumn("detail")],
        rows: findings.map { [.text($0.check), .boolean($0.status == .ok), .text($0.detail)] }))
    if let bad = findings.first(where: { $0.status != .ok }) { throw .silent(bad.status) }
  }
}
