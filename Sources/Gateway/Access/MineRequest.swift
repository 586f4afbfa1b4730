import AppStore
import Market

/// What a route about the user's own things works with, and what it answers.
package struct MineRequest: Sendable {
  package var principal: Principal
  /// Of the path and the query, by name: `id`, `symbol`, `cursor`.
  package var parameters: [String: String]
  /// Whole; its length was bounded before (64 KiB).
  package var body: [UInt8]

  package init(principal: Principal, parameters: [String: String] = [:], body: [UInt8] = []) {
    self.principal = principal
    self.parameters = parameters
    self.body = body
  }

  func watchlistID() throws(Problem) -> Int64 { try id(of: "a watchlist") }

  func id(of thing: String) throws(Problem) -> Int64 {
    guard let text = parameters["id"], let id = Int64(text), id > 0 else {
      throw .unstorable("id", expected: "a number of \(thing)")
    }
    return id
  }
}

package struct MineResponse: Sendable, Hashable {
  package var status: Int
  /// JSON; empty with 204.
  package var body: [UInt8]
  /// `Location`, of what was made.
  package var location: String?

  static let empty = MineResponse(status: 204, body: [])

  static func json(
    status: Int = 200, location: String? = nil, _ write: (inout JSONWriter) -> Void
  ) -> MineResponse {
    var writer = JSONWriter()
    write(&writer)
    return MineResponse(status: status, body: writer.bytes, location: location)
  }
}
