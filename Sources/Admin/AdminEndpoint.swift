import HTTPServing
import Ingest
import Operations

/// What is served where. Everything but `/livez` is a pure function of one `DaemonReport`, and
/// everything is masked on its way out.
package struct AdminEndpoint: Sendable {
  private let state: DaemonState
  private let build: BuildFacts
  private let mask: SecretMask

  package static let paths = ["/livez", "/readyz", "/metrics", "/status", "/status.txt"]

  package init(state: DaemonState, build: BuildFacts, mask: SecretMask) {
    self.state = state
    self.build = build
    self.mask = mask
  }

  /// What needs nobody's help: whether the daemon's own loops turn, and what is asked wrongly.
  func immediateResponse(_ request: ServerRequest) -> ServerResponse? {
    if request.method != "GET", request.method != "HEAD" {
      return .text("GET and HEAD only", status: 405)
    }
    if !AdminEndpoint.paths.contains(request.path) {
      return .text(AdminEndpoint.paths.joined(separator: "\n"), status: 404)
    }
    return request.path == "/livez" ? livez : nil
  }

  package func response(to request: ServerRequest) async -> ServerResponse {
    if let response = immediateResponse(request) { return response }
    let report = await state.report()
    var response =
      switch request.path {
      case "/readyz": readyz(report)
      case "/metrics": metrics(report)
      case "/status.txt":
        ServerResponse.text(StatusDocument(report, build: build).text, status: 200)
      default: status(report)
      }
    response.body = mask.masked(response.body)
    return response
  }

  /// Exactly what the watchdog goes by: never the database.
  private var livez: ServerResponse {
    let stale = state.heartbeats.stale()
    return stale.isEmpty
      ? .text("ok", status: 200)
      : .text("no progress: " + stale.joined(separator: ", "), status: 503)
  }

  private func readyz(_ report: DaemonReport) -> ServerResponse {
    let readiness = Readiness(report)
    return .text(
      ([readiness.headline] + readiness.lines).joined(separator: "\n"),
      status: readiness.isReady ? 200 : 503)
  }

  private func metrics(_ report: DaemonReport) -> ServerResponse {
    let page = MetricTable.families.exposition(of: MetricSource(report: report, build: build))
    return ServerResponse(
      status: 200, contentType: "text/plain; version=0.0.4; charset=utf-8", body: page)
  }

  private func status(_ report: DaemonReport) -> ServerResponse {
    ServerResponse(
      status: 200, contentType: "application/json",
      body: StatusDocument(report, build: build).json + "\n")
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
