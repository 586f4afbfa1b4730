/// A numeric address, or all that begin as one does (`10.0.0.0/8`): who is believed to be a proxy.

import Glibc
import Market

package struct AddressRange: Sendable, Hashable {
  private let bytes: [UInt8]
  private let prefixBits: Int
  private let text: String

  /// What stands for peers on a Unix socket: they have no address.
  package static let unixSocket = "unix"

  /// `192.0.2.1`, `10.0.0.0/8`, `fd00::/8` or `unix`; nil if it is none, or has bits behind its
  /// prefix.
  package init?(_ text: String) {
    self.text = text
    if text == Self.unixSocket {
      (bytes, prefixBits) = ([], 0)
      return
    }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let bytes = NumericAddress.bytes(String(parts[0])) else { return nil }
    self.bytes = bytes
    guard parts.count == 2 else {
      prefixBits = bytes.count * 8
      return
    }
    guard !parts[1].isEmpty, parts[1].utf8.allSatisfy({ (48...57).contains($0) }),
      let bits = Int(parts[1]), bits <= bytes.count * 8
    else { return nil }
    prefixBits = bits
    guard Self.masked(bytes, bits: bits) == bytes else { return nil }
  }

  /// - Parameter address: numeric; nil of a peer on a Unix socket.
  package func contains(_ address: String?) -> Bool {
    guard let address else { return bytes.isEmpty }
    guard let other = NumericAddress.bytes(address), other.count == bytes.count else {
      return false
    }
    return Self.masked(other, bits: prefixBits) == bytes
  }

  /// The bytes with zeros behind the prefix.
  private static func masked(_ bytes: [UInt8], bits: Int) -> [UInt8] {
    bytes.enumerated().map { index, byte in
      let kept = min(max(bits - index * 8, 0), 8)
      return kept == 8 ? byte : byte & ~(0xFF >> kept)
    }
  }
}

extension AddressRange: CustomStringConvertible {
  package var description: String { text }
}

package enum NumericAddress {
  /// 4 bytes of an IPv4 address, 16 of an IPv6 one, nil of anything else. An IPv4 address that is
  /// written as an IPv6 one (`::ffff:192.0.2.1`) is an IPv4 address: dual-stack sockets report it.
  package static func bytes(_ text: String) -> [UInt8]? {
    var four = in_addr()
    if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: four) { Array($0) } }
    var six = in6_addr()
    guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
    let bytes = withUnsafeBytes(of: six) { Array($0) }
    let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
    return bytes.starts(with: mapped) ? Array(bytes[12...]) : bytes
  }
}

extension Setting where Value == [AddressRange] {
  static func addressRanges(_ key: String, unset: String, help: String) -> Self {
    Setting(
      key, kind: "list", default: [],
      range: "addresses, prefixes such as 10.0.0.0/8, or unix; empty: \(unset)", help: help,
      write: { $0.map(\.description).quotedList },
      read: { input in
        guard case .strings(let texts) = input else {
          throw SettingMismatch(expected: "a list of addresses such as [\"127.0.0.1\"]")
        }
        return try texts.map { text in
          guard let range = AddressRange(text) else {
            throw SettingMismatch(
              expected: "numeric addresses, prefixes such as 10.0.0.0/8, or unix",
              found: text.quoted)
          }
          return range
        }
      })
  }
}
