// Moments in headers (RFC 9110, section 5.6.7): three spellings, of which servers still send all.
import CCurl

package enum HTTPDate {
  /// Seconds since 1970; nil where the text is no date.
  package static func seconds(_ text: String) -> Int64? {
    let seconds = curl_getdate(text, nil)
    return seconds < 0 ? nil : Int64(seconds)
  }
}
