/// Puts the quotes around keys that Sina's `json_v2` answers used to do without: `{day:"…"}`.
///
/// Those answers are script and no JSON; candled reads JSON only, strictly, so this is the one
/// thing that is mended first. Words inside strings and words that no colon follows stay as they
/// are, so what was JSON before comes out unchanged.

enum SinaBareKeys {
  /// Hands `use` the body, mended where it needs that.
  static func mending<Response>(
    _ body: UnsafeRawBufferPointer,
    then use: (UnsafeRawBufferPointer) throws(FeedRefusal) -> Response
  ) throws(FeedRefusal) -> Response {
    guard occur(in: body) else { return try use(body) }
    let mended = quoted(body)
    let result = mended.withUnsafeBytes { mended in
      Result { () throws(FeedRefusal) in try use(mended) }
    }
    return try result.get()
  }

  /// Whether the first object in `text` begins with a bare key.
  private static func occur(in text: UnsafeRawBufferPointer) -> Bool {
    guard let brace = text.offset(of: UInt8(ascii: "{")) else { return false }
    return text.dropping(brace + 1).trimmed.first.map(isWord) ?? false
  }

  private static func quoted(_ text: UnsafeRawBufferPointer) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count + text.count / 4)
    var index = 0
    while index < text.count {
      let end = lexeme(in: text, at: index)
      let isKey = isWord(text[index]) && nextIsColon(text, from: end)
      if isKey { result.append(UInt8(ascii: "\"")) }
      result.append(contentsOf: text[index..<end])
      if isKey { result.append(UInt8(ascii: "\"")) }
      index = end
    }
    return result
  }

  /// Where the string, the word or the single byte at `start` ends.
  private static func lexeme(in text: UnsafeRawBufferPointer, at start: Int) -> Int {
    var end = start + 1
    if text[start] == UInt8(ascii: "\"") {
      while end < text.count, text[end] != UInt8(ascii: "\"") {
        end += text[end] == UInt8(ascii: "\\") ? 2 : 1
      }
      return min(end + 1, text.count)
    }
    if isWord(text[start]) { while end < text.count, isWord(text[end]) { end += 1 } }
    return end
  }

  private static func nextIsColon(_ text: UnsafeRawBufferPointer, from start: Int) -> Bool {
    var index = start
    while index < text.count, text[index] == UInt8(ascii: " ") { index += 1 }
    return index < text.count && text[index] == UInt8(ascii: ":")
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    (97...122).contains(byte | 0x20) || (48...57).contains(byte) || byte == UInt8(ascii: "_")
  }
}
