/// A line of the live view before it is bytes: pieces of text with a meaning each. Widths are
/// counted here, where no escape sequence can confuse them; colour comes last or not at all.

import TerminalView

/// What a piece of text is, and so how it looks. Only the terminal's own sixteen colours: they are
/// the ones its owner chose.
enum Style {
  case plain
  case title
  case label
  case good
  case warning
  case bad
  /// Red and green as in Shanghai: red is up.
  case rise
  case fall

  /// Select Graphic Rendition parameters (ECMA-48 §8.3.117); nil changes nothing.
  fileprivate var parameters: String? {
    switch self {
    case .plain: nil
    case .title: "1"
    case .label: "2"
    case .good: "32"
    case .warning: "33"
    case .bad: "1;31"
    case .rise: "31"
    case .fall: "32"
    }
  }
}

struct StyledLine {
  private var pieces: [(text: String, style: Style)] = []
  private(set) var width = 0

  init() {}

  init(_ text: String, style: Style = .plain) { add(text, style: style) }

  mutating func add(_ text: String, style: Style = .plain) {
    if text.isEmpty { return }
    let clean = text.withoutControls
    pieces.append((clean, style))
    width += DisplayWidth.of(clean)
  }

  mutating func add(_ line: StyledLine) {
    pieces += line.pieces
    width += line.width
  }

  /// Blanks up to `column`.
  mutating func advance(to column: Int) {
    if width < column { add(String(repeating: " ", count: column - width)) }
  }

  /// The line as bytes for a terminal, at most `width` columns of it.
  func rendered(width: Int, color: Bool) -> String {
    var text = ""
    var left = width
    for (piece, style) in pieces where left > 0 {
      let visible = piece.prefix(columns: left)
      left = DisplayWidth.of(visible) < DisplayWidth.of(piece) ? 0 : left - DisplayWidth.of(piece)
      if color, let parameters = style.parameters {
        text += "\u{1B}[\(parameters)m\(visible)\u{1B}[0m"
      } else {
        text += visible
      }
    }
    return text
  }
}
