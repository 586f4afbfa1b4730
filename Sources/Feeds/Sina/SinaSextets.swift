/// Reads the bits Sina packs into text, six a character, as its own pages do.
///
/// The characters are those of Base64 without padding; bits are taken from the lowest of a
/// character upwards, and the first bit of a number is its lowest. Sina's script reads a strange
/// character as six ones and goes on reading behind the end; here both are faults, for a calendar
/// made up from damage would be worse than none.

struct SinaSextets {
  private let text: UnsafeRawBufferPointer
  private var position = 0

  static let bitsPerCharacter = 6

  init(_ text: UnsafeRawBufferPointer) { self.text = text }

  var bitsLeft: Int { text.count * SinaSextets.bitsPerCharacter - position }

  mutating func bit() throws(FeedRefusal) -> Bool {
    let place = position / SinaSextets.bitsPerCharacter
    guard place < text.count else {
      throw FeedRefusal(.malformed, "the packed bits end too early")
    }
    guard let sextet = SinaSextets.value(of: text[place]) else {
      throw FeedRefusal(.malformed, "character \(place) is not one of the 64 that encode bits")
    }
    defer { position += 1 }
    return sextet >> (position % SinaSextets.bitsPerCharacter) & 1 == 1
  }

  /// An unsigned number of `bits` bits; 0 of none.
  mutating func number(bits: Int) throws(FeedRefusal) -> Int {
    var number = 0
    for place in 0..<bits where try bit() { number |= 1 << place }
    return number
  }

  /// A change by at least one: its sign, a one for each more, a zero.
  mutating func change() throws(FeedRefusal) -> Int {
    let grows = try bit()
    var size = 1
    while try bit() { size += 1 }
    return grows ? size : -size
  }

  private static func value(of character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
