/// A source's checks at one moment: which requests to send, and what their responses make of each.
///
/// Sans-IO: whoever runs it sends the requests in their order and hands in what came back.

import Market

package struct CheckRun {
  package let context: CheckContext
  /// The requests, each once, in the order to send them.
  package let requests: [CheckRequest]
  private var answers: [CheckRequest: Answer] = [:]
  /// Why the others are not sent; nil while they are.
  package private(set) var endedBecause: String?

  /// What a person's visit amounts to.
  package static let requestsMax = 15

  private enum Answer {
    case response(CheckResponse)
    case failure(String)
  }

  package init(_ context: CheckContext) {
    self.context = context
    var requests: [CheckRequest] = []
    for request in context.source.checks.flatMap({ $0.requests(context) })
    where !requests.contains(request) { requests.append(request) }
    precondition(requests.count <= Self.requestsMax, "too many requests for a run of checks")
    self.requests = requests
  }

  package mutating func receive(_ response: CheckResponse, of request: CheckRequest) {
    answers[request] = .response(response)
    if response.endsRequests { endedBecause = "not sent: an earlier request was refused" }
  }

  /// - Parameter reason: for people.
  package mutating func fail(_ request: CheckRequest, because reason: String) {
    answers[request] = .failure(reason)
  }

  package var findings: [CheckFinding] {
    context.source.checks.map { check in
      CheckFinding(
        source: context.source.name, name: check.name, sentence: check.sentence,
        remedy: check.remedy, verdict: verdict(of: check))
    }
  }

  private func verdict(of check: SourceCheck) -> CheckVerdict {
    var responses: [CheckResponse] = []
    var missing: CheckVerdict?
    for request in check.requests(context) {
      switch answers[request] {
      case .response(let response): responses.append(response)
      case .failure(let reason): missing = .unreachable(reason)
      case nil: missing = missing ?? .untried(endedBecause ?? "not sent")
      }
    }
    if context.source.credentials != nil, let refused = responses.first(where: \.refusesKey) {
      return check.judgesKey ? .broken(refused.refusal ?? "") : .untried("the key was refused")
    }
    if let refusal = responses.lazy.compactMap(\.refusal).first {
      return check.judgesRefusals ? .broken(refusal) : .untried("the response was refused")
    }
    if let missing { return missing }
    return responses.isEmpty ? .untried("nothing to request") : check.validate(responses, context)
  }

  /// The largest batch of live quotes, if one was answered.
  var batch: CheckResponse? {
    let responses = requests.compactMap { request -> CheckResponse? in
      if case .response(let response) = answers[request] { response } else { nil }
    }
    return responses.first { $0.refusal == nil && !$0.batch.quotes.isEmpty }
  }
}

/// One row of the result.
package struct CheckFinding: Sendable, Hashable {
  /// The source's name; the names of both where two are compared.
  package let source: String
  package let name: String
  package let sentence: String
  package let remedy: String
  package let verdict: CheckVerdict

  package init(
    source: String, name: String, sentence: String, remedy: String, verdict: CheckVerdict
  ) {
    self.source = source
    self.name = name
    self.sentence = sentence
    self.remedy = remedy
    self.verdict = verdict
  }
}
