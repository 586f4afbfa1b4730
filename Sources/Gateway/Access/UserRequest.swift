/// What a route about the user's own things works with.
struct UserRequest: Sendable {
  let principal: Principal
  let arguments: Arguments

  func watchlistID() throws(Problem) -> Int64 { try id(of: "a watchlist") }

  func id(of thing: String) throws(Problem) -> Int64 {
    guard let id = arguments.integer("id"), id > 0 else {
      throw .unstorable("id", expected: "a number of \(thing)")
    }
    return id
  }
}
