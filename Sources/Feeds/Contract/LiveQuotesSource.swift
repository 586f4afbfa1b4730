/// A source that has live quotes and nothing else: it declares those, and is asked for nothing that
/// has a line in the journal's spelling, a pace or a host of its own.

package protocol LiveQuotesSource: SourceDefinition {}

extension LiveQuotesSource {
  /// No worker has it.
  package var workerName: String { name }

  /// What a command may ask is within the budget of live quotes: there is no other.
  package var pace: RequestPace {
    RequestPace(
      requestsPerMinute: quotes?.requestsPerMinute, requestsPerMinuteMax: 1, burst: 1,
      inFlightMax: 1)
  }

  package var hosts: [HostSetting] { [] }
}
