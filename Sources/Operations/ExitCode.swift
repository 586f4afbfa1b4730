/// How candled ends, in the codes of sysexits.h, so that scripts and systemd can tell a typing
/// error from a database that is away.

package enum ExitCode: Int32, Sendable, CaseIterable {
  case ok = 0
  case due = 1
  case usage = 64
  case dataError = 65
  case noInput = 66
  case unavailable = 69
  case software = 70
  case cannotCreate = 73
  case inputOutput = 74
  case temporaryFailure = 75
  case noPermission = 77
  case configuration = 78

  /// One phrase for the reference.
  package var meaning: String {
    switch self {
    case .ok: "done"
    case .due: "candled status: something needs a person within 30 days"
    case .usage: "the command line is invalid"
    case .dataError: "the input is invalid, a response was refused as a whole, or a source changed"
    case .noInput: "an input file is missing or unreadable"
    case .unavailable: "a requirement is missing: the PostgreSQL programs, the database or a source"
    case .software: "a bug in candled"
    case .cannotCreate: "an output file or folder cannot be created"
    case .inputOutput: "a read or write failed"
    case .temporaryFailure: "in use or overloaded; try again later"
    case .noPermission: "permission denied"
    case .configuration: "the configuration is invalid"
    }
  }
}
