import ExchangeSimulator
import Feeds
import Ingest
import Postgres

/// The simulated exchange in the place of the sources' hosts: it is asked with the paths and headers
/// that would go to them, and gives the bytes that would come back, without a network between. On a
/// thread of its own, for a day that is simulated for its bars takes seconds.
actor MemoryUpstream: Upstream {
  private let executor = ThreadExecutor(name: "exchange")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private var upstreams: SimulatedUpstreams

  init(history: SimulatedHistory, clock: MarketClock) {
    upstreams = SimulatedUpstreams(
      SimulatedExchange(history, clock: clock), protocols: DemoUpstream.all.flatMap(\.protocols))
  }

  func response(to feedRequest: FeedRequest, key: String?, host: Int) -> UpstreamResponse {
    let demo = DemoUpstream.all.first { $0.name == feedRequest.definition.name }
    let words = demo?.key?.split(separator: " ").map(String.init)
    let endpoint = feedRequest.endpoint(credentials: words.map { FeedCredentials(words: $0) })
    let headers = endpoint.headers.map { ($0.name.lowercased(), $0.value) }
    let response = upstreams.response(
      SimulatedRequest(
        target: endpoint.path, headers: Dictionary(headers, uniquingKeysWith: { $1 })))
    return .response(status: Int32(response.status), body: response.body, retryAfter: nil)
  }
}
