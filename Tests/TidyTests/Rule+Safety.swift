/// What can end the process or race, allowed only with a proof.
///
/// The proof is the comment on the same line or right above: it says `Safe:` and why, or names what
/// it proves in backticks (`@unchecked Sendable`). A document without either is no proof.

@testable import candled_tidy

extension Rule {
  static let safety = [forcing, printing, detached, unchecked, unsafe, floating]

  /// `x!`, `try!`, `as!`, `Int!`: a mark behind a value or a word, and not a comparison.
  static let forcing = proven("!") { #/[\w)\]}>?"`]!(?!=)/# }

  /// Printing into a text (`to: &text`) is no talk, nor is a `print` the file declares itself.
  static let printing = Rule(name: "no print without a proof") { file in
    let declaration = #/\b(?:func|let|var)\s+print\b/#
    let declaresItsOwn = file.text.lines.contains { $0.code.contains(declaration) }
    return declaresItsOwn ? [] : standardPrinting.violations(file)
  }

  private static let standardPrinting = proven("print") {
    #/(?:^|[^\w.`])(?:print|debugPrint|dump)\((?!.*\bto: &)/#
  }

  static let detached = proven("Task.detached") { #/\bTask\s*\.\s*detached\b/# }

  static let unchecked = proven("@unchecked") { #/@unchecked\b/# }

  static let unsafe = proven("nonisolated(unsafe)") { #/\bnonisolated\(unsafe\)/# }

  /// Prices, volumes and money are exact. What Admin tells of in `Double` are durations.
  static let floating = Rule(name: "no binary floating point in the product") { file in
    guard file.isProduct, file.target != "Admin" else { return [] }
    return floatingWords.violations(file)
  }

  private static let floatingWords = proven("Double") { #/\b(?:Double|Float\d*|CGFloat)\b/# }

  /// - Parameter pattern: made afresh for each file, since a `Regex` is not Sendable.
  private static func proven(
    _ construct: String, _ pattern: @escaping @Sendable () -> Regex<Substring>
  ) -> Rule {
    Rule(name: "no \(construct) without a proof") { file in
      let pattern = pattern()
      return file.text.lines.indices.compactMap { index in
        guard file.text.lines[index].code.contains(pattern),
          !isProven(construct, at: index, in: file.text)
        else { return nil }
        return Violation(path: file.path, line: index + 1, message: "\(construct) without a proof")
      }
    }
  }

  /// Whether the comment at or right above a line proves `construct`.
  static func isProven(_ construct: String, at index: Int, in text: SourceText) -> Bool {
    var proof = text.lines[index].comment
    var above = index - 1
    while above >= 0, text.lines[above].isComment || isAttribute(text.lines[above]) {
      proof = text.lines[above].comment + "\n" + proof
      above -= 1
    }
    return proof.contains("Safe:") || proof.contains("`\(construct)")
  }

  private static func isAttribute(_ line: SourceText.Line) -> Bool {
    let code = line.code.drop { $0.isWhitespace }
    return code.hasPrefix("@") && !code.contains("{")
  }
}
