import Glibc

/// The addresses of this machine's network interfaces.
package enum OwnAddresses {
  /// - Parameter bytes: as `NumericAddress.bytes` has them.
  /// - Returns: true also where the system does not tell.
  package static func contains(_ bytes: [UInt8]) -> Bool {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return true }
    defer { freeifaddrs(list) }
    return sequence(first: list) { $0?.pointee.ifa_next }.contains { entry in
      guard let address = entry?.pointee.ifa_addr else { return false }
      return Self.bytes(of: address) == bytes
    }
  }

  private static func bytes(of address: UnsafeMutablePointer<sockaddr>) -> [UInt8]? {
    let place = UnsafeRawPointer(address)
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
      return withUnsafeBytes(of: place.load(as: sockaddr_in.self).sin_addr) { Array($0) }
    case AF_INET6:
      return withUnsafeBytes(of: place.load(as: sockaddr_in6.self).sin6_addr) { Array($0) }
    default: return nil
    }
  }
}
