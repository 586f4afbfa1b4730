import Feeds
import Market
import Operations
import Transport

/// Who answers a worker's question. The daemon asks over HTTP; a test may answer from memory.
package protocol FeedUpstream: Sendable {
  /// - Parameters:
  ///   - key: the label of the key to ask with; nil where none is needed.
  ///   - host: which of a source's hosts, counted on round and round.
  func response(to feedRequest: FeedRequest, key: String?, host: Int) async -> UpstreamResponse

  /// The name of that host; nil where there is no network between.
  func hostName(of feedRequest: FeedRequest, host: Int) -> String?
}

extension FeedUpstream {
  package func hostName(of feedRequest: FeedRequest, host: Int) -> String? { nil }
}

/// The hosts and keys of every source beside live quotes. Secrets go from here into a request and
/// nowhere else; whoever asks knows them by their labels alone.
package struct HTTPFeedUpstream: FeedUpstream {
  /// By the setting that names them, in the order they are tried.
  package typealias Hosts = [String: [BaseAddress]]

  private let client: HTTPClient
  private let hosts: Hosts
  private var keys: [String: FeedCredentials]
  private var mask = SecretMask()

  static let connectMilliseconds = 5_000
  /// The lists come slowly: the vendor's own client waits a minute (mairui.md §A.6).
  static let deadlineMilliseconds = 30_000

  package init(client: HTTPClient, hosts: Hosts, credentials: SourceCredentials) {
    self.client = client
    self.hosts = hosts
    keys = credentials.byLabel
    credentials.register(in: mask)
  }

  /// The same with other keys beside its own, which workers go on with until they are made anew;
  /// answers that echo an earlier one are blanked as before.
  func with(_ credentials: SourceCredentials) -> HTTPFeedUpstream {
    var upstream = self
    upstream.keys.merge(credentials.byLabel) { $1 }
    credentials.register(in: mask)
    return upstream
  }

  /// The same with these keys alone, once every worker is made anew. What is under way goes on with
  /// the keys and the mask it began with.
  func only(_ credentials: SourceCredentials) -> HTTPFeedUpstream {
    var upstream = self
    upstream.keys = credentials.byLabel
    upstream.mask = SecretMask()
    credentials.register(in: upstream.mask)
    return upstream
  }

  /// How many keys it would ask with.
  var keyCount: Int { keys.count }

  package func response(to feedRequest: FeedRequest, key: String?, host: Int) async
    -> UpstreamResponse
  {
    let endpoint = feedRequest.endpoint(credentials: key.flatMap { keys[$0] })
    let call = HTTPRequest(
      base: base(of: feedRequest, host), path: endpoint.path,
      headers: endpoint.headers.map { ($0.name, $0.value) },
      deadlineMilliseconds: Self.deadlineMilliseconds,
      connectMilliseconds: Self.connectMilliseconds,
      bodyBytesMax: feedRequest.definition.bodyBytesMax(of: feedRequest.query),
      route: endpoint.route)
    let response = await client.response(to: call)
    guard key != nil, case .response(let status, var body, let retryAfter, let date) = response
    else {
      return response
    }
    // Some servers repeat the path they did not find, licence and all; the journal keeps bodies.
    mask.blank(&body)
    return .response(status: status, body: body, retryAfter: retryAfter, date: date)
  }

  package func hostName(of feedRequest: FeedRequest, host: Int) -> String? {
    base(of: feedRequest, host).host
  }

  private func base(of feedRequest: FeedRequest, _ host: Int) -> BaseAddress {
    let setting = feedRequest.definition.hosts(of: feedRequest.query).key
    guard let candidates = hosts[setting], !candidates.isEmpty else {
      preconditionFailure("no host is configured by \(setting)")
    }
    return candidates[host % candidates.count]
  }
}

extension HTTPFeedUpstream {
  /// All that the settings name.
  /// - Throws: `invalidRequest` if a setting holds no origin.
  package static func hosts(_ settings: Settings) throws(TransportError) -> Hosts {
    var hosts: Hosts = [:]
    for setting in SourceRegistry.all.flatMap(\.hosts) {
      var bases: [BaseAddress] = []
      for text in setting.origins(in: settings) { bases.append(try BaseAddress(parsing: text)) }
      hosts[setting.key] = bases
    }
    return hosts
  }
}
