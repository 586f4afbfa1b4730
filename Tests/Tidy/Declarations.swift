/// What the limits of the house style count in one file: parameters, stored properties, `public`.
///
/// One pass over the words of the code. It knows enough Swift for that and no more: what stands
/// directly in the body of a struct, class or actor and is neither static nor computed is stored.
struct Declarations {
  /// After the first of each function, initialiser and subscript.
  private(set) var laterParameters = 0
  /// Those of them that a call gives without a label.
  private(set) var unlabelledParameters = 0
  /// By type, nested ones as `Outer.Inner`.
  private(set) var storedProperties: [String: Int] = [:]
  /// For each `public` the outermost type it belongs to, "" outside any.
  private(set) var publicOwners: [String] = []

  private struct Scope {
    /// nil for a body that is no type's.
    var name: String?
    var storesProperties = false
  }

  private let words: [Substring]
  private var scopes: [Scope] = []
  private var brackets = 0
  /// The type whose `{` comes next.
  private var announced: Scope?
  private var isStatic = false
  /// A `var` is being read, and no `=` or `{` has come that says what it is.
  private var isOpenVariable = false
  private var publicsBefore = 0

  init(in text: SourceText) {
    words = text.lines.flatMap { SourceText.tokens(of: $0.code) }
    for index in words.indices { read(index) }
    closeVariable()
  }

  private func word(at index: Int) -> Substring {
    words.indices.contains(index) ? words[index] : ""
  }

  private mutating func read(_ index: Int) {
    guard word(at: index - 1) != "." else { return }
    switch words[index] {
    case "(", "[": brackets += 1
    case ")", "]": brackets -= 1
    case "{": open(index)
    case "}":
      closeVariable()
      _ = scopes.popLast()
    case _ where brackets > 0: break
    case "=": closeVariable()
    case "static": isStatic = true
    case "public" where word(at: index + 1) != "import": publicsBefore += 1
    case "struct", "class", "actor", "enum", "extension", "protocol": announce(index)
    case "let", "var": readProperty(words[index])
    case "func", "init", "subscript": readFunction(index)
    case "typealias", "case": endDeclaration()
    default: break
    }
  }

  // MARK: Types

  private mutating func announce(_ index: Int) {
    closeVariable()
    var name = String(word(at: index + 1))
    // `import struct Glibc.stat` declares nothing, nor does `class` in a list of conformances.
    guard word(at: index - 1) != "import", name.first?.isLetter == true else { return }
    var next = index + 2
    while word(at: next) == "." {
      name += ".\(word(at: next + 1))"
      next += 2
    }
    announced = Scope(
      name: name, storesProperties: ["struct", "class", "actor"].contains(words[index]))
    endDeclaration(outermost: name)
  }

  private mutating func open(_ index: Int) {
    if isOpenVariable {
      let isObserved = ["didSet", "willSet"].contains(word(at: index + 1))
      if isObserved { closeVariable() }
      isOpenVariable = false
    }
    scopes.append(brackets == 0 ? announced ?? Scope() : Scope())
    if brackets == 0 { announced = nil }
  }

  private var typeName: String? {
    let names = scopes.compactMap(\.name)
    return names.count == scopes.count && !names.isEmpty ? names.joined(separator: ".") : nil
  }

  // MARK: Members

  private mutating func readProperty(_ keyword: Substring) {
    closeVariable()
    if typeName != nil, scopes.last?.storesProperties == true, !isStatic {
      isOpenVariable = true
      if keyword == "let" { closeVariable() }
    }
    endDeclaration()
  }

  /// Nothing showed that it is computed.
  private mutating func closeVariable() {
    if isOpenVariable, let typeName { storedProperties[typeName, default: 0] += 1 }
    isOpenVariable = false
  }

  private mutating func readFunction(_ index: Int) {
    closeVariable()
    endDeclaration()
    var start = index + 1
    // `func` is followed by a name; an operator's operands have no labels to give.
    if words[index] == "func" {
      guard word(at: start).first?.isLetter == true || word(at: start).hasPrefix("_") else {
        return
      }
      start += 1
    }
    if ["?", "!"].contains(word(at: start)) { start += 1 }
    if word(at: start) == "<" {
      start = end(of: start) + 1
    }
    guard word(at: start) == "(" else { return }
    var depth = 0
    for index in start...end(of: start) {
      depth += nesting(index)
      guard depth == 1, words[index] == "," else { continue }
      laterParameters += 1
      if word(at: index + 1) == "_" { unlabelledParameters += 1 }
    }
  }

  /// Where the bracket that opens at `start` closes.
  private func end(of start: Int) -> Int {
    var depth = 0
    for index in start..<words.count {
      depth += nesting(index)
      if depth == 0 { return index }
    }
    return words.count - 1
  }

  /// One in, one out; the arrow of a function type is neither.
  private func nesting(_ index: Int) -> Int {
    switch words[index] {
    case "(", "[", "{", "<": 1
    case ")", "]", "}": -1
    case ">": word(at: index - 1) == "-" ? 0 : -1
    default: 0
    }
  }

  private mutating func endDeclaration(outermost name: String = "") {
    let owner = scopes.first?.name ?? name
    let outermost = owner.prefix { $0 != "." }
    publicOwners += Array(repeating: String(outermost), count: publicsBefore)
    publicsBefore = 0
    isStatic = false
  }
}
