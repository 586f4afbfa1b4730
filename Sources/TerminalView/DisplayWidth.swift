/// How many terminal columns a text takes. Instrument names mix Chinese and ASCII, and a column of
/// a Chinese character is two wide; without this no table of A-shares lines up.
///
/// Widths are those of Unicode's East Asian Width (UAX #11): Wide and Fullwidth take two, marks
/// and formats none, everything else (Ambiguous too, as terminals do by default) one.

package enum DisplayWidth {
  package static func of(_ text: String) -> Int {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.unicodeScalars.reduce(0) { $0 + of($1) }
  }

  static func of(_ scalar: Unicode.Scalar) -> Int {
    if scalar.value < 0x300 { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return wideRanges.contains { $0.contains(scalar.value) } ? 2 : 1
    }
  }

  private static let wideRanges: [ClosedRange<UInt32>] = [
    0x1100...0x115F,  // Hangul Jamo
    0x2E80...0x303E,  // CJK radicals and punctuation
    0x3041...0xA4CF,  // kana, Bopomofo, CJK unified ideographs, Yi
    0xA960...0xA97F,  // Hangul Jamo extended
    0xAC00...0xD7A3,  // Hangul syllables
    0xF900...0xFAFF,  // CJK compatibility ideographs
    0xFE30...0xFE6F,  // CJK compatibility forms
    0xFF01...0xFF60,  // full-width forms
    0xFFE0...0xFFE6,
    0x1F300...0x1F64F, 0x1F900...0x1F9FF,
    0x20000...0x3FFFD,  // ideographs beyond the first plane
  ]
}

extension String {
  /// Filled with blanks up to `columns`; longer texts stay as they are.
  package func padded(columns: Int, alignment: ResultColumn.Alignment) -> String {
    let blanks = String(repeating: " ", count: max(columns - DisplayWidth.of(self), 0))
    return alignment == .leading ? self + blanks : blanks + self
  }

  /// At most `columns` wide; what was cut ends in an ellipsis.
  package func clipped(columns: Int) -> String {
    if DisplayWidth.of(self) <= columns { return self }
    return prefix(columns: columns - 1) + (columns > 0 ? "…" : "")
  }

  /// As much from the front as fits.
  package func prefix(columns: Int) -> String {
    var kept = String.UnicodeScalarView()
    var left = columns
    for scalar in unicodeScalars {
      left -= DisplayWidth.of(scalar)
      if left < 0 { break }
      kept.append(scalar)
    }
    return String(kept)
  }

  /// Controls, and the formats that turn text around, shown as U+FFFD: names come from upstream.
  package var withoutControls: String {
    if utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return self }
    var clean = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: clean.append("\u{FFFD}")
      default: clean.append(scalar)
      }
    }
    return String(clean)
  }

  var trimmedAtEnd: String {
    var text = Substring(self)
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
