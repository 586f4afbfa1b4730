import AppStore
import Foundation

/// With what deliveries of a webhook are signed, as Standard Webhooks has it. It is shown once,
/// when the webhook is made.
struct WebhookSecret: Sendable {
  let bytes: [UInt8]

  private static let byteCount = 32
  private static let prefix = "whsec_"

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// A new one. The generator must be fit for secrets; the system's is.
  init(using generator: inout some RandomNumberGenerator) {
    bytes = (0..<Self.byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }

  /// For printing it once.
  func reveal() -> String { Self.prefix + Data(bytes).base64EncodedString() }

  /// The header `webhook-signature`.
  func signature(id: String, seconds: Int64, body: [UInt8]) -> String {
    let code = SHA256.code(of: Array("\(id).\(seconds).".utf8) + body, key: bytes)
    return "v1," + Data(code).base64EncodedString()
  }
}

extension WebhookSecret: CustomStringConvertible, CustomReflectable {
  var description: String { "<secret>" }
  var customMirror: Mirror { Mirror(self, children: []) }
}
