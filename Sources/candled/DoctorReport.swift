/// The result of `candled doctor`: a table of all checks, then what is wrong and what to do.

import Feeds
import Market
import Operations
import TerminalView

struct DoctorReport {
  var findings: [CheckFinding] = []
  private var requestsSent = 0

  mutating func add(_ run: DoctorRun) {
    findings =
      run.checkRuns.flatMap(\.findings) + CheckComparison.findings(run.checkRuns) + findings
    requestsSent += run.requestsSent
  }

  var status: ExitCode {
    if !broken.isEmpty { return .dataError }
    return unreachable.isEmpty ? .ok : .unavailable
  }

  private var broken: [CheckFinding] {
    findings.filter { if case .broken = $0.verdict { true } else { false } }
  }

  private var unreachable: [CheckFinding] {
    findings.filter { if case .unreachable = $0.verdict { true } else { false } }
  }

  private var untried: [CheckFinding] {
    findings.filter { if case .untried = $0.verdict { true } else { false } }
  }

  // MARK: - For people

  var text: String {
    let table = ResultWriter.text(
      format: .table, columns: ["source", "check", "verdict", "expected"].map { ResultColumn($0) },
      rows: findings.map { finding in
        var expected = finding.sentence
        if case .untried(let reason) = finding.verdict { expected += " (\(reason))" }
        return [finding.source, finding.name, finding.verdict.name, expected].map { .text($0) }
      })
    return table + broken.map(Self.paragraph).joined() + unreachableText + "\n" + summary + "\n"
  }

  private static func paragraph(_ finding: CheckFinding) -> String {
    """

    \(finding.source) \(finding.name) is broken
      expected: \(finding.sentence)
      found:    \(finding.verdict.detail ?? "")
      to do:    \(finding.remedy)

    """
  }

  /// A host that is not there is said once, not for each check.
  private var unreachableText: String {
    var reasons: [String] = []
    for finding in unreachable {
      let reason = "\(finding.source): \(finding.verdict.detail ?? "")"
      if !reasons.contains(reason) { reasons.append(reason) }
    }
    return reasons.map { reason in
      "\nno response from \(reason)\n  to do:    Check DNS, the network and the setting.\n"
    }.joined()
  }

  private var summary: String {
    let held = findings.count - broken.count - unreachable.count - untried.count
    return "\(counted(findings.count, "check")): \(held) ok, \(broken.count) broken, "
      + "\(unreachable.count) without a response, \(untried.count) not tried; "
      + "\(counted(requestsSent, "request")) sent"
  }

  // MARK: - For programs

  var jsonLines: String {
    findings.map { finding in
      JSONText.object([
        ("source", .text(finding.source)), ("check", .text(finding.name)),
        ("verdict", .text(finding.verdict.name)), ("expected", .text(finding.sentence)),
        ("found", finding.verdict.detail.map { .text($0) } ?? .null),
        ("remedy", finding.verdict == .holds ? .null : .text(finding.remedy)),
      ]) + "\n"
    }.joined()
  }
}
