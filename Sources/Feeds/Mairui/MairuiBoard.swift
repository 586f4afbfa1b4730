/// The lists Mairui has of the mainland's stocks, one a board (docs/sources/mairui.md#paths).

import Market

package enum MairuiBoard: String, Sendable, Hashable, CaseIterable {
  /// Shanghai and Shenzhen.
  case hslt
  /// Beijing, which is not in the other.
  case bj

  private var pathStart: String {
    switch self {
    case .hslt: "/hslt/list/"
    case .bj: "/bj/list/all/"
    }
  }

  /// The one place where a licence enters a path.
  func endpoint(licence: String) -> Endpoint {
    Endpoint(
      route: pathStart + "{licence}", path: pathStart + licence.percentEncoded, headers: [])
  }
}
