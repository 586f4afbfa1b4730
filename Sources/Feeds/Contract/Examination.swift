/// A source's beliefs at one moment: which requests to send, and what their responses make of each.
///
/// Sans-IO: whoever runs it sends the requests in their order and hands in what came back.

import Market

package struct Examination {
  package let context: BeliefContext
  /// Each once, in the order to send them.
  package let requests: [BeliefRequest]
  private var answers: [BeliefRequest: Answer] = [:]
  /// Why the others are not sent; nil while they are.
  package private(set) var endedBecause: String?

  /// What a person's visit amounts to.
  package static let requestsMax = 15

  private enum Answer {
    case response(BeliefResponse)
    case failure(String)
  }

  package init(_ context: BeliefContext) {
    self.context = context
    var requests: [BeliefRequest] = []
    for request in context.source.beliefs.flatMap({ $0.requests(context) })
    where !requests.contains(request) { requests.append(request) }
    precondition(requests.count <= Self.requestsMax, "too many requests for an examination")
    self.requests = requests
  }

  package mutating func receive(_ response: BeliefResponse, of request: BeliefRequest) {
    answers[request] = .response(response)
    if response.endsRequests { endedBecause = "not sent: an earlier request was refused" }
  }

  /// - Parameter reason: for people.
  package mutating func fail(_ request: BeliefRequest, because reason: String) {
    answers[request] = .failure(reason)
  }

  package var findings: [BeliefFinding] {
    context.source.beliefs.map { belief in
      BeliefFinding(
        source: context.source.name, name: belief.name, sentence: belief.sentence,
        remedy: belief.remedy, verdict: verdict(of: belief))
    }
  }

  private func verdict(of belief: Belief) -> BeliefVerdict {
    var responses: [BeliefResponse] = []
    var missing: BeliefVerdict?
    for request in belief.requests(context) {
      switch answers[request] {
      case .response(let response): responses.append(response)
      case .failure(let reason): missing = .unreachable(reason)
      case nil: missing = missing ?? .untried(endedBecause ?? "not sent")
      }
    }
    if context.source.credentials != nil, let refused = responses.first(where: \.refusesKey) {
      return belief.judgesKey ? .broken(refused.refusal ?? "") : .untried("the key was refused")
    }
    if let refusal = responses.lazy.compactMap(\.refusal).first {
      return belief.judgesRefusals ? .broken(refusal) : .untried("the response was refused")
    }
    if let missing { return missing }
    return responses.isEmpty ? .untried("nothing to request") : belief.check(responses, context)
  }

  /// The largest batch of live quotes, if one was answered.
  var batch: BeliefResponse? {
    let responses = requests.compactMap { request -> BeliefResponse? in
      if case .response(let response) = answers[request] { response } else { nil }
    }
    return responses.first { $0.refusal == nil && !$0.batch.quotes.isEmpty }
  }
}

/// One row of the result.
package struct BeliefFinding: Sendable, Hashable {
  /// Its name; the names of both where two are compared.
  package let source: String
  package let name: String
  package let sentence: String
  package let remedy: String
  package let verdict: BeliefVerdict

  package init(
    source: String, name: String, sentence: String, remedy: String, verdict: BeliefVerdict
  ) {
    self.source = source
    self.name = name
    self.sentence = sentence
    self.remedy = remedy
    self.verdict = verdict
  }
}
