/// A file of symbols, one a line, for lists too long for the configuration (`quotes.symbols_file`).

import Market

package enum SymbolFile {
  /// The symbols of `text`, in order. Blank lines and what follows a `#` do not count. Throws every
  /// line that is no symbol or names one a second time.
  package static func parse(
    _ text: String, origin: String
  ) throws(ConfigurationError) -> [Symbol] {
    var symbols: [Symbol] = []
    var firstLines: [Symbol: Int] = [:]
    var problems: [ConfigurationProblem] = []
    let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
    for (index, line) in lines.enumerated() {
      let name = line.prefix { $0 != "#" }.filter { !$0.isWhitespace }
      guard !name.isEmpty else { continue }
      guard let symbol = Symbol(name) else {
        problems.append(
          ConfigurationProblem(
            origin: origin, line: index + 1, key: nil,
            sentence: "expected a symbol such as sh600519"))
        continue
      }
      if let first = firstLines.updateValue(index + 1, forKey: symbol) {
        problems.append(
          ConfigurationProblem(
            origin: origin, line: index + 1, key: nil,
            sentence: "\(symbol) is already on line \(first)"))
      }
      symbols.append(symbol)
    }
    guard problems.isEmpty else { throw ConfigurationError(code: .invalid, problems: problems) }
    return symbols
  }

  /// Reads and parses the file at `path`.
  package static func load(_ path: String) throws(ConfigurationError) -> [Symbol] {
    try parse(ConfigurationFile.read(path), origin: path)
  }
}
