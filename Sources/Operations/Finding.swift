/// The outcome of one check, in one line.
package struct Finding: Sendable {
  package var check: String
  package var status: ExitCode
  package var detail: String

  package init(check: String, status: ExitCode = .ok, detail: String) {
    self.check = check
    self.status = status
    self.detail = detail
  }

  package init(check: String, _ error: ConfigurationError) {
    self.init(
      check: check, status: error.exitCode,
      detail: error.problems.first?.description ?? error.description)
  }
}

extension Finding {
  /// Whoever gets here has one without a fault.
  package static func configuration(_ path: String?) -> Finding {
    guard let path else {
      return Finding(check: "configuration", detail: "no file, every setting at its default")
    }
    let dropIns = ((try? ConfigurationFile.files(of: path)) ?? []).dropFirst().count
    return Finding(
      check: "configuration", detail: dropIns == 0 ? path : "\(path) and \(dropIns) in conf.d")
  }
}
