import Feeds
import Market
import Operations

/// What a command may request of a source in a minute. The host counts what comes from one address,
/// or with one key, whichever process sends it.
package struct CommandBudget: Sendable, Hashable {
  package let requestsPerMinute: Int
  /// Less than configured: the daemon sends requests to the same source.
  package let isShared: Bool

  /// - Parameter besideDaemon: one is running, by the same settings.
  package init(of source: Source, settings: Settings, besideDaemon: Bool) {
    let definition = SourceRegistry.definition(of: source)
    let pace = definition.pace
    let own = pace.requestsPerMinute.map { settings[$0] } ?? pace.requestsPerMinuteMax
    let isAsked = definition.bars?.recording.map { !settings[$0.symbols].isEmpty } ?? true
    isShared = besideDaemon && isAsked
    // A setting beyond what is known may be right: then a tenth more is as well.
    requestsPerMinute =
      isShared ? max(min(own, pace.requestsPerMinuteMax - own), own / 10, 1) : own
  }
}
