/// How one endpoint of a source is doing.
package struct SourceHealthRow: Sendable, Hashable {
  package enum State: String, Sendable {
    case up, degraded, down
  }

  package var source: Source
  /// The endpoint's name; never its address.
  package var endpoint: String
  package var state: State
  package var since: Timestamp
  package var lastSuccessAt: Timestamp?
  /// Since the daemon started.
  package var requests: Int64
  package var failures: Int64
  /// For people.
  package var detail: String
  /// When it was so; nil is the commit's own moment.
  package var updatedAt: Timestamp?

  package init(
    source: Source, endpoint: String, state: State, since: Timestamp, lastSuccessAt: Timestamp?,
    requests: Int64, failures: Int64, detail: String
  ) {
    self.source = source
    self.endpoint = endpoint
    self.state = state
    self.since = since
    self.lastSuccessAt = lastSuccessAt
    self.requests = requests
    self.failures = failures
    self.detail = detail
  }
}
