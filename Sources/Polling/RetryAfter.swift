// The Retry-After header (RFC 9110 §10.2.3): seconds, or a date.
import Market

package enum RetryAfter {
  /// Longer wishes are cut: a mistaken year must not silence a source for good.
  package static let secondsMax = 3_600

  /// Seconds to wait, 0…`secondsMax`; nil if the text is neither seconds nor a date.
  /// - Parameter date: what the text is as a date, in seconds since 1970.
  package static func seconds(_ text: String, date: Int64?, now: Timestamp) -> Int? {
    if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
      return min(Int(text) ?? secondsMax, secondsMax)
    }
    return date.map { Int(min(max($0 - now.seconds, 0), Int64(secondsMax))) }
  }
}
