import Operations
import TerminalView

/// What the programs print of their version.
extension BuildVersion {
  /// What `version` prints.
  package static func line(of program: String, asJSON json: Bool) -> String {
    guard json else {
      return "\(program) \(current) (\(configuration), Swift \(swift), \(architecture))"
    }
    return JSONText.object([
      ("name", .text(program)), ("version", .text(current)),
      ("configuration", .text(configuration)), ("swift", .text(swift)),
      ("architecture", .text(architecture)),
    ])
  }
}
