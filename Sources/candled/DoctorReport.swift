/// The result of `candled doctor`: a table of all requests, then which hosts did not answer and
/// what to do.

import Feeds
import Market
import Operations
import TerminalView

struct DoctorReport {
  var findings: [CheckFinding] = []
  private var requestsSent = 0

  mutating func add(_ run: DoctorRun) {
    findings = run.checks.flatMap(\.findings) + findings
    requestsSent += run.requestsSent
  }

  var status: ExitCode {
    if brokenCount > 0 { return .dataError }
    return unreachable.isEmpty ? .ok : .unavailable
  }

  private var brokenCount: Int {
    findings.count { if case .broken = $0.verdict { true } else { false } }
  }

  private var unreachable: [CheckFinding] {
    findings.filter { if case .unreachable = $0.verdict { true } else { false } }
  }

  private var untriedCount: Int {
    findings.count { if case .untried = $0.verdict { true } else { false } }
  }

  // MARK: - For people

  var text: String {
    let table = ResultWriter.text(
      format: .table, columns: ["source", "request", "verdict", "found"].map { ResultColumn($0) },
      rows: findings.map { finding in
        // A host that is not there is named once, below.
        var found = finding.verdict.detail ?? ""
        if case .unreachable = finding.verdict { found = "" }
        return [finding.source, finding.request, finding.verdict.name, found].map { .text($0) }
      })
    return table + brokenText + unreachableText + "\n" + summary + "\n"
  }

  private var brokenText: String {
    if brokenCount == 0 { return "" }
    return """

      To do: where stamps are not of now, check this machine's clock (timedatectl). Else the format
      may have changed, or this address or key is refused: send a report with --bundle.

      """
  }

  private var unreachableText: String {
    var reasons: [String] = []
    for finding in unreachable {
      let reason = "\(finding.source): \(finding.verdict.detail ?? "")"
      if !reasons.contains(reason) { reasons.append(reason) }
    }
    return reasons.map { reason in
      "\nNo response from \(reason)\nTo do: check DNS, the network and the setting.\n"
    }.joined()
  }

  private var summary: String {
    let held = findings.count - brokenCount - unreachable.count - untriedCount
    return "\(counted(requestsSent, "request")) sent: \(held) ok, \(brokenCount) broken, "
      + "\(unreachable.count) without a response, \(untriedCount) not tried"
  }

  // MARK: - For programs

  var jsonLines: String {
    findings.map { finding in
      JSONText.object([
        ("source", .text(finding.source)), ("request", .text(finding.request)),
        ("verdict", .text(finding.verdict.name)),
        ("found", finding.verdict.detail.map { .text($0) } ?? .null),
      ]) + "\n"
    }.joined()
  }
}
