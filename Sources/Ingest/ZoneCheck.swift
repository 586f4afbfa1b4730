import Glibc
import Market

/// New York's clock is built in, so that no server stores other candles than another. The system's
/// time zone database follows the law: where its rule for the time to come is another one, a
/// release of candled is due, and whoever runs this one must know.
enum ZoneCheck {
  /// The rule that `NewYork` keeps, as the database writes it.
  static let builtIn = "EST5EDT,M3.2.0,M11.1.0"
  static let newYork = "/usr/share/zoneinfo/" + MarketZone.newYork.rawValue
  /// The largest zone has 4 KiB.
  private static let bytesMax = 1 << 16

  /// The last line of a zone of the database (RFC 9636); nil where there is none.
  static func rule(of path: String = newYork) -> String? {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: bytesMax)
    let count = fread(&bytes, 1, bytes.count, file)
    return bytes.prefix(count).split(separator: UInt8(ascii: "\n")).last
      .map { String(decoding: $0, as: UTF8.self) }
  }
}
