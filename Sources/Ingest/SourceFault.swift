import Market
import Transport

/// Why an endpoint is not well: what its last failed request came to, how many failed since it was
/// last well, and when the first of them did. One value for the log, the STATUS line, `/status`,
/// `/readyz` and the `health` view, so that all of them name the same reason.
package struct SourceFault: Sendable, Hashable {
  package enum Reason: Sendable, Hashable {
    /// No response.
    case transport(TransportError.Code)
    /// A response that cannot be used: its HTTP status, and the word for what it was.
    case response(status: Int32, outcome: String)
  }

  package let reason: Reason
  /// nil where the upstream has no address: a test's.
  package let host: String?
  package let attempts: Int
  package let since: Timestamp

  package init(_ reason: Reason, host: String?, since: Timestamp, attempts: Int = 1) {
    self.reason = reason
    self.host = host
    self.since = since
    self.attempts = attempts
  }

  /// Whether the host did not prove who it is: theirs if it is one host, ours if it is all.
  package var isOfCertificate: Bool { reason == .transport(.certificate) }

  /// The class of the fault, as metrics label it.
  package var code: String {
    switch reason {
    case .transport(let code): code.rawValue
    case .response(_, let outcome): outcome
    }
  }

  /// `cannot resolve hq.sinajs.cn (16 attempts since 10:00)`, times in Shanghai.
  package func sentence(at now: Timestamp) -> String {
    "\(problem) (\(counted(attempts, "attempt")) since \(since.clock(on: now)))"
  }

  /// The sentence with what to do about it, where there is something.
  package func advice(at now: Timestamp) -> String {
    sentence(at: now) + (remedy.map { ": " + $0 } ?? "")
  }

  private var problem: String {
    let host = host ?? "the host"
    switch reason {
    case .transport(.resolve): return "cannot resolve \(host)"
    case .transport(.connect): return "cannot connect to \(host)"
    case .transport(.timeout): return "no response from \(host) in time"
    case .transport(.tls): return "no TLS connection to \(host)"
    case .transport(.certificate): return "the certificate of \(host) is not valid here"
    case .transport(.reset), .transport(.truncated): return "\(host) closed the connection early"
    case .transport(let code): return "request to \(host) failed: \(code.rawValue)"
    case .response(let status, let outcome): return "\(host) returned HTTP \(status), \(outcome)"
    }
  }

  private var remedy: String? {
    switch reason {
    case .transport(.resolve): "check DNS or the network"
    case .transport(.connect), .transport(.timeout): "check the network or a firewall"
    case .transport(.certificate):
      "check this machine's clock and its CA certificates (apt-get install ca-certificates)"
    case .transport, .response: nil
    }
  }
}

extension Timestamp {
  /// The minute in Shanghai, with the day unless `now` is of the same.
  package func clock(on now: Timestamp) -> String {
    shanghaiDay == now.shanghaiDay ? clockMinute : "\(shanghaiDay) \(clockMinute)"
  }
}

extension SourceFault? {
  /// Another request failed.
  mutating func record(_ reason: SourceFault.Reason, host: String?, at now: Timestamp) {
    self = SourceFault(
      reason, host: host, since: self?.since ?? now, attempts: (self?.attempts ?? 0) + 1)
  }
}

extension Timestamp {
  /// `09:41`, in Shanghai.
  var clockMinute: String { ClockText.minute(shanghaiSecondOfDay) }
}
