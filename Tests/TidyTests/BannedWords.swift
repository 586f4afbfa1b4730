@testable import candled_tidy

/// Words that a text for people must not have: each personifies a program, or is a riddle where a
/// usual word exists. "A source tells" is "a source sends"; "asked too often" is "too many
/// requests".
///
/// Words are compared whole and without case. Anything but a letter, a digit or an apostrophe
/// separates words, so that a phrase is found over a line break of a literal.
enum BannedWords {
  static let list = [
    "tell", "tells", "told", "telling", "hear", "hears", "heard", "talk", "talks", "talking",
    "speaks", "bears", "desk", "desks", "shop", "shops", "errand", "errands", "roster", "rosters",
    "reckon", "reckons", "reckoned", "reckoning", "stranger", "strangers", "americans", "sheet",
    "sheets",
    "said so", "says so", "say so", "say it again", "so many of them", "is rows", "made of it",
    "does not turn", "put back", "believe", "believes", "believed", "politely", "nobody", "whoever",
    "asked for", "asked too often", "is away",
  ]

  /// An ordinary word in its ordinary sense.
  struct Exception {
    /// With its neighbours, as narrow as it can be.
    let text: String
    let path: String
    let reason: String
  }

  static let exceptions = [
    Exception(
      text: "neither a user postgres nor nobody", path: "Sources/",
      reason: "the name of a system user"),
    Exception(text: "nobody", path: "Sources/", reason: "the same name, alone"),
  ]

  static func found(in text: String, of path: String) -> [String] {
    var spaced = normalized(text)
    for exception in exceptions where path.hasPrefix(exception.path) {
      let phrase = normalized(exception.text)
      if spaced == phrase || exception.text.contains(" ") {
        spaced = spaced.replacing(phrase, with: " ")
      }
    }
    return list.filter { spaced.contains(" \($0) ") }
  }

  /// Lower-case words with a space before and after each.
  private static func normalized(_ text: String) -> String {
    let words = text.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "'") }
    return " " + words.joined(separator: " ") + " "
  }

  /// The texts in SQL: what stands between single quotes, with the line of each, counted from 0.
  /// Strings that follow each other, as in `comment on … is 'a ' 'b'`, are one text.
  static func quotedTexts(inSQL sql: String) -> [(line: Int, text: String)] {
    var texts: [(line: Int, text: String)] = []
    var (line, isOpen, isAdjacent) = (0, false, false)
    var characters = sql.makeIterator()
    var isComment = false
    var last: Character?
    while let character = characters.next() {
      defer { last = character }
      if character == "\n" {
        line += 1
        isComment = false
      }
      if isOpen {
        if character == "'" {
          (isOpen, isAdjacent) = (false, true)
        } else {
          texts[texts.count - 1].text.append(character)
        }
      } else if isComment {
        continue
      } else if character == "'" {
        isOpen = true
        if isAdjacent, last == "'" {
          texts[texts.count - 1].text.append("'")
        } else if !isAdjacent {
          texts.append((line, ""))
        }
      } else if character == "-", last == "-" {
        isComment = true
      } else if !character.isWhitespace, character != "-" {
        isAdjacent = false
      }
    }
    return texts
  }
}

extension Rule {
  static let wording = [words]

  /// Every literal of the product; of SQL only the texts in it.
  static let words = Rule(name: "no banned word in a text for people") { file in
    guard file.isProduct else { return [] }
    return file.text.lines.enumerated().flatMap { index, line in
      line.literals.flatMap { literal in
        let texts =
          sqlStatement(in: literal)
          ? BannedWords.quotedTexts(inSQL: literal).map(\.text) : [literal]
        return texts.flatMap { BannedWords.found(in: $0, of: file.path) }.map { word in
          Violation(path: file.path, line: index + 1, message: "the banned word '\(word)'")
        }
      }
    }
  }

  private static func sqlStatement(in literal: String) -> Bool {
    let verbs = ["select", "insert", "update", "delete", "with", "do", "copy", "create", "cross"]
    let first = literal.drop { $0.isWhitespace }.prefix { $0.isLetter }
    return literal.contains("\n") && verbs.contains(String(first))
  }
}
