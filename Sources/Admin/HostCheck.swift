import Glibc
import HTTPServing
import Operations

/// Whether a request calls us by a name of ours.
///
/// A web page can give its own host name our address (DNS rebinding), and its visitor's browser
/// then takes our answers for the page's own. But the browser sends the page's host name. So on
/// loopback only loopback's names count. No page reaches a socket in the file system. An address of
/// the network has whatever name its scrapers know it by, and answers everybody anyway.
extension ListenAddress {
  static let hostRefusal = ServerResponse.text(
    "the Host header must be localhost or a loopback address such as 127.0.0.1", status: 421)

  func isMeant(by request: ServerRequest) -> Bool {
    if case .unix = self { return true }
    return !isLocal || request.hosts.allSatisfy(ListenAddress.isLoopback)
  }

  /// Of `name`, `name:port` and `[address]:port`.
  private static func isLoopback(_ host: String) -> Bool {
    let name = host.replacing(/:[0-9]{0,5}$/, with: "")
    if ["localhost", "localhost.", "[::1]"].contains(name.lowercased()) { return true }
    var address = in_addr()
    return name.hasPrefix("127.") && inet_pton(AF_INET, name, &address) == 1
  }
}
