import Feeds
import Market
import Operations
import Polling
import TestSupport

@testable import Ingest

/// What the workers of a test are configured with: nothing but the source without keys, unless it
/// says more.
struct SampleWorkers {
  var wantsLists = false
  var licences: [String] = []
  var licenceRequestsPerDay = 50
  var alpacaKey: String?
  var alpacaFeed = "iex"
  var alpacaDelaySeconds: Int64 = 0
  var usEquities: [Symbol] = []
  var repairs = RepairPlan()

  func configuration() throws -> WorkerConfiguration {
    var settings = Settings(.candled)
    try settings.overlay(key: "universe.follow", value: "\(wantsLists)")
    try settings.overlay(key: "mairui.requests_per_day", value: "\(licenceRequestsPerDay)")
    try settings.overlay(key: "alpaca.feed", value: alpacaFeed)
    try settings.overlay(key: "alpaca.delay", value: "\(alpacaDelaySeconds)s")
    let symbols = usEquities.map(\.description).joined(separator: ",")
    try settings.overlay(key: "alpaca.symbols", value: symbols)
    let key = { (label: String) in
      SourceCredentials.Key(label: label, credentials: FeedCredentials(words: [label]))
    }
    let credentials = SourceCredentials(bySource: [
      "mairui": licences.map(key), "alpaca": [alpacaKey].compactMap { $0.map(key) },
    ])
    var configuration = WorkerConfiguration(
      settings, credentials: credentials, speed: 1, seed: 1)
    configuration.repairs = repairs
    return configuration
  }
}
