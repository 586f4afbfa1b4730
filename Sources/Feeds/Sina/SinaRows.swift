/// The rows of Sina's JSON pages, in whatever they come: a plain array, a call around one, or the
/// `{"result":{"data":[…]}}` of its open interface.
///
/// `null` is a failure and never "no rows": it is what throttling looks like
/// (docs/sources/sina.md). An empty array is an answer.

enum SinaRows {
  /// Is handed the reader, ahead of a value which it must read whole, and the row's place from 0.
  typealias Row = (inout JSONReader, Int) throws(JSONFault) -> Void

  /// Calls `row` for each value of the array.
  static func read(_ body: UnsafeRawBufferPointer, each row: Row) throws(FeedRefusal) {
    let script = SinaScript(body)
    var page = Page()
    do throws(JSONFault) {
      try page.read(script.json, each: row)
    } catch {
      throw FeedRefusal(error)
    }
    if let reader = page.reader { try script.finish(reader) }
    if page.isInputError { throw SinaRefusal.inputError }
    if page.isNull { throw SinaRefusal.null }
    if !page.hasRows { throw FeedRefusal(.malformed, "the response holds no rows") }
  }

  /// What the walk through one answer has met.
  private struct Page {
    var hasRows = false
    var isNull = false
    var isInputError = false
    /// The reader behind the value, once that was read.
    var reader: JSONReader?

    mutating func read(_ json: UnsafeRawBufferPointer, each row: Row) throws(JSONFault) {
      var reader = try JSONReader(json)
      if try reader.peek() == .object {
        try readEnvelope(&reader, each: row)
      } else {
        try readRows(&reader, each: row)
      }
      self.reader = reader
    }

    private mutating func readRows(_ reader: inout JSONReader, each row: Row) throws(JSONFault) {
      if try reader.peek() == .null {
        try reader.readNull()
        isNull = true
        return
      }
      try reader.openArray()
      var place = 0
      while try reader.nextElement() {
        _ = try reader.peek()  // skips the blanks ahead of it
        try row(&reader, place)
        place += 1
      }
      hasRows = true
    }

    private mutating func readEnvelope(_ reader: inout JSONReader, each row: Row) throws(JSONFault)
    {
      try reader.openObject()
      while let key = try reader.nextKey() {
        switch key {
        case "result" where try reader.peek() == .object: try readResult(&reader, each: row)
        case "__ERROR":
          isInputError = true
          try reader.skip()
        default: try reader.skip()
        }
      }
    }

    private mutating func readResult(_ reader: inout JSONReader, each row: Row) throws(JSONFault) {
      try reader.openObject()
      while let key = try reader.nextKey() {
        switch key {
        case "data" where !hasRows: try readRows(&reader, each: row)
        default: try reader.skip()
        }
      }
    }
  }
}
