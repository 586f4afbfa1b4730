// The Retry-After header (RFC 9110 §10.2.3): seconds, or a date in one of three spellings
// (§5.6.7), of which servers still send all.
import Market

package enum RetryAfter {
  /// Longer wishes are cut: a mistaken year must not silence a source for good.
  package static let secondsMax = 3_600

  /// Seconds to wait, 0…`secondsMax`; nil if the text is neither seconds nor a date.
  package static func seconds(_ text: String, now: Timestamp) -> Int? {
    let bytes = Array(text.utf8)
    if !bytes.isEmpty, bytes.allSatisfy({ (48...57).contains($0) }) {
      return min(Int(text) ?? secondsMax, secondsMax)
    }
    guard let date = date(text, now: now) else { return nil }
    return Int(min(max(date.seconds - now.seconds, 0), Int64(secondsMax)))
  }

  /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or
  /// `Sun Nov  6 08:49:37 1994`.
  package static func date(_ text: String, now: Timestamp) -> Timestamp? {
    let words = text.split(separator: " ", omittingEmptySubsequences: true)
    guard let name = words.first else { return nil }
    if name.hasSuffix(","), words.last == "GMT" {
      if words.count == 6 {
        return date(words[1], month: words[2], year: words[3], clock: words[4], now: now)
      }
      let parts = words.count == 4 ? words[1].split(separator: "-") : []
      guard parts.count == 3, parts[2].utf8.count == 2 else { return nil }
      return date(parts[0], month: parts[1], year: parts[2], clock: words[2], now: now)
    }
    guard words.count == 5 else { return nil }
    return date(words[2], month: words[1], year: words[4], clock: words[3], now: now)
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func date(
    _ day: Substring, month: Substring, year: Substring, clock: Substring, now: Timestamp
  ) -> Timestamp? {
    let parts = clock.split(separator: ":", omittingEmptySubsequences: false)
    guard let day = number(day), let month = months.firstIndex(of: String(month)),
      let year = number(year), parts.map(\.utf8.count) == [2, 2, 2],
      let hour = number(parts[0]), let minute = number(parts[1]), let second = number(parts[2]),
      hour < 24, minute < 60, second <= 60,
      let date = TradingDay(year: full(year, now: now), month: month + 1, day: day)
    else { return nil }
    let clock = hour * 3_600 + minute * 60 + second
    return Timestamp(seconds: Int64(date.daysSince1970) * 86_400 + Int64(clock))
  }

  /// Two digits mean the year nearest that is not more than 50 years ahead.
  private static func full(_ year: Int, now: Timestamp) -> Int {
    guard year < 100 else { return year }
    let current = now.shanghaiDay.civil.year
    let candidate = current / 100 * 100 + year
    return candidate > current + 50 ? candidate - 100 : candidate
  }

  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy { (48...57).contains($0) } && text.utf8.count <= 4 ? Int(text) : nil
  }
}
