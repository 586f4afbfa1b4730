/// A file of symbols, one a line, for lists too long for the configuration (`quotes.symbols_file`).

import Market

package enum SymbolFile {
  /// The symbols of `text`, in order. Blank lines and what follows a `#` do not count. Throws every
  /// line that is no symbol or names one a second time.
  package static func parse(
    _ text: String, origin: String
  ) throws(ConfigurationError) -> [Symbol] {
    try LineFile.parse(text, origin: origin, key: \.self) { line, expect in
      let symbol = Symbol(line.filter { !$0.isWhitespace })
      if symbol == nil { expect("expected a symbol such as sh600519", nil) }
      return symbol
    }
  }

  /// Reads and parses the file at `path`.
  package static func load(_ path: String) throws(ConfigurationError) -> [Symbol] {
    try parse(ConfigurationFile.read(path), origin: path)
  }
}
