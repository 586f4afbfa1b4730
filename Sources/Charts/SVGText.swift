/// The bytes of an SVG picture while it is written. All coordinates are whole numbers.

struct SVGText {
  private(set) var bytes: [UInt8] = []

  init(capacity: Int) { bytes.reserveCapacity(capacity) }

  /// Markup: no text of others.
  mutating func append(_ markup: String) { bytes.append(contentsOf: markup.utf8) }

  mutating func append(_ path: SVGPath) { bytes.append(contentsOf: path.bytes) }

  /// Text of others. What XML cannot hold becomes U+FFFD.
  mutating func append(text: String) {
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": append("&amp;")
      case "<": append("&lt;")
      case ">": append("&gt;")
      case "\u{0}"..<" ", "\u{7F}"..<"\u{A0}", "\u{FFFE}", "\u{FFFF}": append("\u{FFFD}")
      default: bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      }
    }
  }

  /// An element `text` with its place.
  mutating func append(text: String, class names: String, x: Int, y: Int) {
    append("<text\(names.isEmpty ? "" : " class=\"\(names)\"") x=\"\(x)\" y=\"\(y)\">")
    append(text: text)
    append("</text>")
  }

  /// An element `path`; none where nothing is drawn.
  /// - Parameter title: what a reader sees who points at it.
  mutating func append(
    _ path: SVGPath, class names: String, strokeWidth: Int = 1, title: String? = nil
  ) {
    guard !path.bytes.isEmpty else { return }
    append("<path class=\"\(names)\"")
    if strokeWidth != 1 { append(" stroke-width=\"\(strokeWidth)\"") }
    // Strokes lie on both sides of their line: those of one pixel, and of all odd widths, in the
    // middle of a pixel, where their group is.
    if strokeWidth == 2 { append(" transform=\"translate(.5)\"") }
    append(" d=\"")
    append(path)
    guard let title else { return append("\"/>") }
    append("\"><title>\(title)</title></path>")
  }
}

/// The commands of an element `path`.
struct SVGPath {
  private(set) var bytes: [UInt8] = []

  mutating func move(x: Int, y: Int) {
    bytes.append(UInt8(ascii: "M"))
    append(x)
    bytes.append(UInt8(ascii: " "))
    append(y)
  }

  /// A vertical stroke downwards.
  mutating func addBar(x: Int, y: Int, height: Int) {
    move(x: x, y: y)
    bytes.append(UInt8(ascii: "v"))
    append(height)
  }

  mutating func addLine(fromX x: Int, y: Int, width: Int) {
    move(x: x, y: y)
    bytes.append(UInt8(ascii: "h"))
    append(width)
  }

  /// Round, of the width of the stroke.
  mutating func addDot(x: Int, y: Int) { addLine(fromX: x, y: y, width: 0) }

  /// On a horizontal side of 6 pixels, its point up.
  mutating func addTriangle(x: Int, y: Int) {
    move(x: x, y: y)
    bytes.append(contentsOf: "l3 5h-6z".utf8)
  }

  /// On from where the path is.
  mutating func line(byX width: Int, y height: Int) {
    bytes.append(UInt8(ascii: "l"))
    append(width)
    if height >= 0 { bytes.append(UInt8(ascii: " ")) }
    append(height)
  }

  private mutating func append(_ number: Int) { bytes.append(contentsOf: String(number).utf8) }
}
