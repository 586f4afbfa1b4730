import Admin
import Foundation
import Operations
import TerminalView

/// What a running daemon reports of itself, or why none does.
struct DaemonReply {
  private var page: String?
  private var silence = ""
  /// How many things need a person soon.
  private(set) var dueSoon = 0

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
      let (status, body) = try await AdminClient.get("/status", from: address)
      guard let report = Report(body) else {
        silence = "another server than candled listens at \(address) (HTTP \(status))"
        return
      }
      dueSoon = (report.due ?? []).count { $0.daysLeft <= DueItem.soonDaysMax }
      page = isJSON ? body : try await AdminClient.get("/status.txt", from: address).body
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

  /// What is read of `/status`.
  private struct Report: Decodable {
    struct Due: Decodable { var daysLeft: Int }

    var role: String
    var due: [Due]?

    /// nil: it is none.
    init?(_ body: String) {
      let decoder = JSONDecoder()
      decoder.keyDecodingStrategy = .convertFromSnakeCase
      guard let report = try? decoder.decode(Report.self, from: Data(body.utf8)) else {
        return nil
      }
      self = report
    }
  }

  var isThere: Bool { page != nil }

  /// As received.
  var json: String { page?.split(separator: "\n").joined(separator: " ") ?? "null" }

  var text: String {
    let lines = page?.split(separator: "\n") ?? ["daemon  \(silence)"]
    return lines.map { String($0).withoutControls + "\n" }.joined()
  }
}
