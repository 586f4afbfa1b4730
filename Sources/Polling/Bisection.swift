// Finds the token that voids a whole batch.
//
// One malformed symbol makes Sina answer a batch of 800 with `FAILED`
// (docs/sources/sina.md#lines-and-refusals). The batch is halved until the culprit stands alone.
// First a control: the reference symbol alone. If that is refused too, it is the source that
// refuses, not a token, and nothing is halved: a real client once wiped 5,367 names by assuming
// otherwise. Then the smaller left half is asked; if it is good, the culprit is in the other one,
// which need not be asked as a whole. A symbol is condemned only by an answer to itself. So one
// culprit among n costs at most 2·log2(n) + 2 requests.
import Market

/// The search through one poisoned batch.
struct Bisection: Sendable {
  /// Symbols to ask for, the reference symbol to be put before them; none is the control.
  struct Part: Sendable, Hashable {
    fileprivate(set) var symbols: [Symbol]
    /// The other half, not asked for yet.
    fileprivate var sibling: [Symbol]
    /// The number of the search it belongs to.
    let search: Int
  }

  enum Step: Sendable, Hashable {
    case ask(Part)
    case quarantine(Symbol)
    /// The source refuses everything: the search is off.
    case abandon
  }

  /// Symbols not known to be good: they stay out of the ordinary batches meanwhile.
  private(set) var suspects: Set<Symbol>
  let number: Int
  private let batch: [Symbol]
  private var partsOpen = 0

  init(batch: [Symbol], number: Int) {
    self.batch = batch
    self.number = number
    suspects = Set(batch)
  }

  var isOver: Bool { partsOpen == 0 }

  mutating func begin() -> Step { ask([], sibling: []) }

  /// The part was answered with data.
  mutating func cleared(_ part: Part) -> [Step] {
    partsOpen -= 1
    if part.symbols.isEmpty { return split(batch) }
    suspects.subtract(part.symbols)
    if part.sibling.count == 1 { return [ask(part.sibling, sibling: [])] }
    return part.sibling.isEmpty ? [] : split(part.sibling)
  }

  /// The part was refused like the whole.
  mutating func poisoned(_ part: Part) -> [Step] {
    partsOpen -= 1
    if part.symbols.isEmpty {
      suspects = []
      return [.abandon]
    }
    var steps = split(part.symbols)
    if !part.sibling.isEmpty { steps.append(ask(part.sibling, sibling: [])) }
    return steps
  }

  /// Asks for the smaller half; a single symbol was itself refused.
  private mutating func split(_ symbols: [Symbol]) -> [Step] {
    guard symbols.count > 1 else {
      suspects.subtract(symbols)
      return symbols.map { .quarantine($0) }
    }
    let middle = symbols.count / 2
    return [ask(Array(symbols[..<middle]), sibling: Array(symbols[middle...]))]
  }

  private mutating func ask(_ symbols: [Symbol], sibling: [Symbol]) -> Step {
    partsOpen += 1
    return .ask(Part(symbols: symbols, sibling: sibling, search: number))
  }
}
