/// What stands at the other end of standard output, and how to borrow its screen.

import Glibc

package enum Terminal {
  /// How to show something that goes on.
  package enum Mode: Sendable, Hashable {
    /// A screen that can be redrawn in place.
    case live(color: Bool)
    /// A line now and then.
    case lines
  }

  package struct Size: Sendable, Hashable {
    package var width: Int
    package var height: Int
  }

  /// Live on a terminal that can move its cursor; colours unless NO_COLOR is set and not empty
  /// (no-color.org).
  package static func mode(isTerminal: Bool, term: String?, noColor: String?) -> Mode {
    guard isTerminal, let term, !term.isEmpty, term != "dumb" else { return .lines }
    return .live(color: (noColor ?? "").isEmpty)
  }

  /// The mode for a file descriptor of this process.
  package static func mode(of descriptor: Int32) -> Mode {
    mode(
      isTerminal: isatty(descriptor) == 1, term: environment("TERM"),
      noColor: environment("NO_COLOR"))
  }

  /// The size now: asked for every frame, so that nobody needs to hear of SIGWINCH. A terminal
  /// that does not know its size (a serial line says 0 by 0) gets the classic one.
  package static func size(of descriptor: Int32) -> Size {
    var window = winsize()
    let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0
    guard isKnown, window.ws_col > 0, window.ws_row > 0 else { return classicSize }
    return Size(width: Int(window.ws_col), height: Int(window.ws_row))
  }

  package static let classicSize = Size(width: 80, height: 24)

  /// Switches to the alternate screen and hides the cursor.
  package static let enterScreen = "\u{1B}[?1049h\u{1B}[?25l"
  /// Gives the screen back as it was. Whoever entered must write this on every way out.
  package static let leaveScreen = "\u{1B}[?25h\u{1B}[?1049l"

  private static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}
