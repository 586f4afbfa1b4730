/// The rows of Sina's JSON pages: an array, alone or in a call.
///
/// `null` is a failure and never "no rows": it is what throttling looks like
/// (docs/sources/sina.md). An empty array is an answer.

enum SinaRows {
  /// Is handed the reader, ahead of a value which it must read whole, and the row's place from 0.
  typealias Row = (inout JSONReader, Int) throws(JSONFault) -> Void

  /// Calls `row` for each value of the array.
  static func read(_ body: UnsafeRawBufferPointer, each row: Row) throws(FeedRefusal) {
    let script = SinaScript(body)
    let refusal: FeedRefusal?
    let reader: JSONReader
    do throws(JSONFault) {
      (refusal, reader) = try readRows(script.json, each: row)
    } catch {
      throw FeedRefusal(error)
    }
    try script.finish(reader)
    if let refusal { throw refusal }
  }

  /// - Returns: why there are no rows, and the reader behind the value.
  private static func readRows(
    _ json: UnsafeRawBufferPointer, each row: Row
  ) throws(JSONFault) -> (FeedRefusal?, JSONReader) {
    var reader = try JSONReader(json)
    switch try reader.peek() {
    case .null:
      try reader.readNull()
      return (SinaRefusal.null, reader)
    case .object:
      let refusal = try refusal(in: &reader)
      return (refusal, reader)
    default:
      try reader.openArray()
      var place = 0
      while try reader.nextElement() {
        _ = try reader.peek()  // skips the blanks ahead of it
        try row(&reader, place)
        place += 1
      }
      return (nil, reader)
    }
  }

  /// What an object says in place of rows.
  private static func refusal(in reader: inout JSONReader) throws(JSONFault) -> FeedRefusal {
    var refusal = FeedRefusal(.malformed, "the response holds no rows")
    try reader.openObject()
    while let key = try reader.nextKey() {
      if "__ERROR" ~= key { refusal = SinaRefusal.inputError }
      try reader.skip()
    }
    return refusal
  }
}
