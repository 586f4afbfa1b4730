import Feeds
import Market
import Operations
import Polling
import Transport

/// Who answers a worker's request. The daemon asks over HTTP; a test may answer from memory.
package protocol Upstream: Sendable {
  /// - Parameters:
  ///   - key: the label of the key to ask with; nil where none is needed.
  ///   - host: which of a source's hosts, counted on round and round.
  func response(to feedRequest: FeedRequest, key: String?, host: Int) async -> UpstreamResponse

  /// The name of that host; nil where there is no network between.
  func hostName(of feedRequest: FeedRequest, host: Int) -> String?
}

extension Upstream {
  package func hostName(of feedRequest: FeedRequest, host: Int) -> String? { nil }
}

/// What came back, or why nothing did.
package enum UpstreamResponse: Sendable {
  /// `date` is its server's, as the header gives it.
  case response(status: Int32, body: [UInt8], retryAfter: String?, date: String? = nil)
  case failure(TransportError)

  /// A certificate does not become valid by asking again; one that is renewed, or a bundle, is
  /// noticed within a minute.
  private static let certificateSeconds = 60

  /// How long the source is to be left alone, from `now` on; nil if nothing says.
  package func retryAfterSeconds(at now: Timestamp) -> Int? {
    switch self {
    case .response(_, _, let retryAfter?, _):
      RetryAfter.seconds(retryAfter, date: HTTPDate.seconds(retryAfter), now: now)
    case .failure(let error) where error.code == .certificate: Self.certificateSeconds
    case .response, .failure: nil
    }
  }

  /// When the server says it answered; nil if it does not.
  var date: Timestamp? {
    guard case .response(_, _, _, let date?) = self else { return nil }
    return HTTPDate.seconds(date).map { Timestamp(seconds: $0) }
  }
}

/// The hosts and keys of every source. Secrets go from here into a request and
/// nowhere else; whoever asks knows them by their labels alone.
package struct HTTPUpstream: Upstream {
  /// The hosts by the setting that names them, in the order they are tried.
  package typealias Hosts = [String: [BaseAddress]]

  private let client: HTTPClient
  private let hosts: Hosts
  /// The daemon's seconds in a real one: deadlines are the daemon's, the wire's are real.
  private let speed: Int
  private(set) var keys: [String: FeedCredentials]
  private var mask = SecretMask()

  static let connectMillisecondsMax = 5_000
  /// The lists come slowly: the vendor's own client waits a minute
  /// (docs/sources/mairui.md#refusals).
  static let deadlineMilliseconds = 30_000

  package init(
    client: HTTPClient, hosts: Hosts, credentials: SourceCredentials = SourceCredentials(),
    speed: Int = 1
  ) {
    self.client = client
    self.hosts = hosts
    self.speed = speed
    keys = credentials.byLabel
    credentials.register(in: mask)
  }

  /// The same with other keys beside its own, which workers go on with until they are made anew;
  /// answers that echo an earlier one are blanked as before.
  func with(_ credentials: SourceCredentials) -> HTTPUpstream {
    var upstream = self
    upstream.keys.merge(credentials.byLabel) { $1 }
    credentials.register(in: mask)
    return upstream
  }

  /// The same with these keys alone, once every worker is made anew. What is under way goes on with
  /// the keys and the mask it began with.
  func only(_ credentials: SourceCredentials) -> HTTPUpstream {
    var upstream = self
    upstream.keys = credentials.byLabel
    upstream.mask = SecretMask()
    credentials.register(in: upstream.mask)
    return upstream
  }

  package func response(to feedRequest: FeedRequest, key: String?, host: Int) async
    -> UpstreamResponse
  {
    let endpoint = feedRequest.endpoint(credentials: key.flatMap { keys[$0] })
    let deadline = deadlineMilliseconds(of: feedRequest)
    let call = HTTPRequest(
      base: base(of: feedRequest, host: host), path: endpoint.path,
      headers: endpoint.headers.map { ($0.name, $0.value) },
      deadlineMilliseconds: deadline,
      connectMilliseconds: min(Self.connectMillisecondsMax, max(deadline * 2 / 5, 1)),
      bodyBytesMax: feedRequest.bodyBytesMax, route: endpoint.route)
    let response = await client.response(to: call)
    guard key != nil, case .response(let status, var body, let retryAfter, let date) = response
    else {
      return response
    }
    // Some servers repeat the path they did not find, licence and all; the journal keeps bodies.
    mask.blank(&body)
    return .response(status: status, body: body, retryAfter: retryAfter, date: date)
  }

  private func deadlineMilliseconds(of feedRequest: FeedRequest) -> Int {
    guard case .quotes(let query) = feedRequest.query else { return Self.deadlineMilliseconds }
    return query.deadlineMilliseconds / speed
  }

  package func hostName(of feedRequest: FeedRequest, host: Int) -> String? {
    base(of: feedRequest, host: host).host
  }

  private func base(of feedRequest: FeedRequest, host: Int) -> BaseAddress {
    let setting = feedRequest.hosts.key
    guard let candidates = hosts[setting], !candidates.isEmpty else {
      preconditionFailure("no host is configured by \(setting)")
    }
    return candidates[host % candidates.count]
  }
}

extension HTTPUpstream {
  /// All that the settings name.
  /// - Throws: `invalidRequest` if a setting holds no origin.
  package static func hosts(_ settings: Settings) throws(TransportError) -> Hosts {
    var hosts: Hosts = [:]
    for setting in SourceRegistry.all.flatMap(\.allHosts) {
      var bases: [BaseAddress] = []
      for text in setting.origins(in: settings) { bases.append(try BaseAddress(parsing: text)) }
      hosts[setting.key] = bases
    }
    return hosts
  }
}

extension SourceDefinition {
  fileprivate var allHosts: [HostSetting] {
    hosts + [quotes.map { .one($0.base) }].compactMap(\.self)
  }
}

extension HTTPClient {
  func response(to call: HTTPRequest) async -> UpstreamResponse {
    do throws(TransportError) {
      let response = try await send(call)
      return .response(
        status: Int32(response.status), body: response.body,
        retryAfter: response.headers["retry-after"], date: response.date)
    } catch {
      return .failure(error)
    }
  }
}
