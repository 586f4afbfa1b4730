import Glibc

/// Chinese text to the bytes the exchange sends, by glibc's iconv(3).
///
/// nil where there are no such bytes, or this system has no converter. Used once a roster and for
/// the ban page: nothing here is fast.
package enum GB18030 {
  package static func encoded(_ text: String) -> [UInt8]? {
    converted(Array(text.utf8), to: "GB18030", from: "UTF-8")
  }

  package static func converted(
    _ bytes: [UInt8], to target: String, from source: String
  ) -> [UInt8]? {
    let converter = iconv_open(target, source)
    // iconv_open(3) reports failure as (iconv_t) -1.
    guard let converter, converter != UnsafeMutableRawPointer(bitPattern: -1) else { return nil }
    defer { iconv_close(converter) }
    var input = bytes.map { CChar(bitPattern: $0) }
    var output = [CChar](repeating: 0, count: input.count * 2 + 8)
    var inputLeft = input.count
    var outputLeft = output.count
    let status = input.withUnsafeMutableBufferPointer { input in
      output.withUnsafeMutableBufferPointer { output in
        var source = input.baseAddress
        var target = output.baseAddress
        return iconv(converter, &source, &inputLeft, &target, &outputLeft)
      }
    }
    guard status == 0 else { return nil }
    return output.dropLast(outputLeft).map { UInt8(bitPattern: $0) }
  }
}
