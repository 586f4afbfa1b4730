/// A name as it may be shown: what a source sends goes into terminals, psql and web pages.
///
/// Taken out, by Unicode's general categories, which no name of a listing has:
///
///     Cc  controls: NUL, backspace, line feeds, ESC, DEL, and CSI and OSC of U+0080…U+009F
///     Cf  format: direction marks, embeddings, overrides and isolates, zero width characters,
///         the byte order mark, soft hyphens, tags
///     Zl  the line separator
///     Zp  the paragraph separator
///
/// Everything else stays: full-width letters, spaces of either width (`万 科Ａ`), private use,
/// U+FFFD for what could not be read.

enum NameText {
  static func clean(_ name: String) -> String {
    guard name.unicodeScalars.contains(where: isTakenOut) else { return name }
    var kept = String.UnicodeScalarView()
    kept.append(contentsOf: name.unicodeScalars.lazy.filter { !isTakenOut($0) })
    return String(kept)
  }

  private static func isTakenOut(_ scalar: Unicode.Scalar) -> Bool {
    if ("\u{20}"..."\u{7E}").contains(scalar) { return false }
    return switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
