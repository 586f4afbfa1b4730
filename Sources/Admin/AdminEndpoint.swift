import Ingest
import Operations

/// What is served where. Everything but `/livez` is a pure function of one `DaemonReport`, and
/// everything is masked on its way out.
package struct AdminEndpoint: Sendable {
  private let state: DaemonState
  private let build: BuildFacts
  private let mask: SecretMask

  package static let paths = ["/livez", "/readyz", "/metrics", "/status"]

  package init(state: DaemonState, build: BuildFacts, mask: SecretMask) {
    self.state = state
    self.build = build
    self.mask = mask
  }

  /// What needs nobody's help: whether the daemon's own loops turn, and what is asked wrongly.
  func immediateResponse(_ request: AdminRequest) -> AdminResponse? {
    if request.method != "GET", request.method != "HEAD" {
      return .text(405, "GET and HEAD only")
    }
    if !AdminEndpoint.paths.contains(request.path) {
      return .text(404, AdminEndpoint.paths.joined(separator: "\n"))
    }
    return request.path == "/livez" ? livez : nil
  }

  package func response(to request: AdminRequest) async -> AdminResponse {
    if let response = immediateResponse(request) { return response }
    let report = await state.report()
    var response =
      switch request.path {
      case "/readyz": readyz(report)
      case "/metrics": metrics(report)
      default: status(report)
      }
    response.body = mask.masked(response.body)
    return response
  }

  /// Exactly what the watchdog goes by: never the database.
  private var livez: AdminResponse {
    let stale = state.heartbeats.stale()
    return stale.isEmpty
      ? .text(200, "ok") : .text(503, "no progress: " + stale.joined(separator: ", "))
  }

  private func readyz(_ report: DaemonReport) -> AdminResponse {
    let readiness = Readiness(report)
    return .text(
      readiness.isReady ? 200 : 503,
      ([readiness.headline] + readiness.lines).joined(separator: "\n"))
  }

  private func metrics(_ report: DaemonReport) -> AdminResponse {
    let page = MetricTable.families.exposition(of: MetricSource(report: report, build: build))
    return AdminResponse(
      status: 200, contentType: "text/plain; version=0.0.4; charset=utf-8", body: page)
  }

  private func status(_ report: DaemonReport) -> AdminResponse {
    AdminResponse(
      status: 200, contentType: "application/json",
      body: StatusDocument(report, build).json + "\n")
  }
}

/// What the program is, told by whoever built it.
package struct BuildFacts: Sendable, Hashable {
  package var version: String
  package var swift: String
  package var configuration: String

  package init(version: String, swift: String, configuration: String) {
    self.version = version
    self.swift = swift
    self.configuration = configuration
  }
}
