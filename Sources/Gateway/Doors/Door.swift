/// A door: paths where the gateway speaks another maker's API, so that clients of that API work
/// here unchanged. Whoever refuses a request behind a door, the route table, access control or a
/// stream, the answer is in that API's own format: doors are found by path, routes or not.

import HTTPTypes

package struct Door: Sendable {
  /// What its paths begin with: `/v2`, without a slash at its end.
  package let path: String
  /// Of an error, for the OpenAPI document.
  package let error: Schema
  /// Of a body with a field that is not offered.
  var refusal = HTTPResponse.Status.badRequest
  /// An error as JSON.
  package let json: @Sendable (Problem) -> [UInt8]

  /// Whether a request's target is behind it.
  func leads(to target: some StringProtocol) -> Bool {
    guard target.hasPrefix(path) else { return false }
    return [nil, "/", "?"].contains(target.dropFirst(path.count).first)
  }
}
