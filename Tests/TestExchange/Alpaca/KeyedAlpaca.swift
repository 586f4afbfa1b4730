import ExchangeSimulator
import Market

/// Alpaca with keys, each with its requests a minute.
///
/// Order of refusals: key, rate, faults on order, question.
package struct KeyedAlpaca: UpstreamProtocol {
  private let options: AlpacaOptions
  private var upstream: AlpacaProtocol
  package private(set) var requests = AlpacaRequests()

  package init(_ options: AlpacaOptions = AlpacaOptions()) {
    self.options = options
    upstream = AlpacaProtocol(seed: options.seed, permitsRecentSIP: options.permitsRecentSIP)
  }

  package mutating func response(
    _ request: SimulatedRequest, from exchange: inout SimulatedExchange
  ) -> SimulatedResponse? {
    let target = RequestTarget(request.target)
    let path = String(target.path)
    guard AlpacaProtocol.paths.contains(path) else { return nil }
    let key = request.headers["apca-api-key-id"] ?? ""
    guard let secret = options.keys[key], secret == request.headers["apca-api-secret-key"] else {
      let isTrading = path != AlpacaProtocol.paths[0]
      return SimulatedResponse(isTrading ? .alpacaForbidden : .alpacaUnauthorized)
    }
    let uses = requests.count(key, at: exchange.moment(requested: target.milliseconds))
    if uses > options.requestsPerMinuteMax { return SimulatedResponse(.alpacaThrottled) }
    return upstream.response(request, from: &exchange)
  }
}
