import Admin
import Foundation
import Operations
import TerminalView

/// What a running daemon reports of itself, or why none does.
struct DaemonReply {
  private var page: String?
  private var silence = ""

  /// No daemon is asked.
  init(silence: String) { self.silence = silence }

  /// - Parameters:
  ///   - address: where it would listen.
  ///   - isJSON: whether `json` is wanted, or `text`.
  init(of address: ListenAddress?, isJSON: Bool) async {
    guard let address else {
      silence = "admin.listen is off"
      return
    }
    do {
      let path = isJSON ? "/status" : "/status.txt"
      let (status, body) = try await AdminClient.get(path, from: address)
      if isJSON ? Self.isStatus(body) : body.hasPrefix("candled ") {
        page = body
      } else {
        silence = "another server than candled listens at \(address) (HTTP \(status))"
      }
    } catch {
      let reason = Self.obstacle(to: address) ?? "\(error)"
      silence = "not running, or not listening at \(address) (\(reason))"
    }
  }

  /// Why nobody of this user's can ask at a socket: it is not there, or is for others.
  private static func obstacle(to address: ListenAddress) -> String? {
    guard case .unix(let path) = address, access(path, R_OK | W_OK) != 0 else { return nil }
    return String(cString: strerror(errno))
  }

  private static func isStatus(_ body: String) -> Bool {
    let object = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
    return object?["role"] is String
  }

  var isThere: Bool { page != nil }

  /// As received.
  var json: String { page?.split(separator: "\n").joined(separator: " ") ?? "null" }

  var text: String {
    let lines = page?.split(separator: "\n") ?? ["daemon  \(silence)"]
    return lines.map { String($0).withoutControls + "\n" }.joined()
  }
}
