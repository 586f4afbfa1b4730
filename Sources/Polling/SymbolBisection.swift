// Finds the symbols for which a source refuses a whole request without naming them.
//
// The search is that of the quotes, with a control symbol in the heartbeat's place: if that alone
// is refused too, it is the source that refuses, and nobody is condemned. The parts are only
// questions (one row is enough); what was wanted is asked again without the condemned.
import Market

/// The search through the symbols of one refused request.
public struct SymbolBisection: Sendable {
  /// Symbols to ask for together.
  public struct Part: Sendable, Hashable {
    public let symbols: [Symbol]
    fileprivate let part: Bisection.Part
  }

  public enum Step: Sendable, Hashable {
    case ask(Part)
    /// Refused alone: leave it out.
    case condemned(Symbol)
    /// The source refuses everything: the search is off.
    case abandoned
  }

  private let control: Symbol
  private var bisection: Bisection

  /// - Parameter control: a symbol that the source surely knows.
  public init(symbols: [Symbol], control: Symbol) {
    self.control = control
    bisection = Bisection(batch: symbols.filter { $0 != control }, number: 0)
  }

  /// No part is waiting for its answer.
  public var isOver: Bool { bisection.isOver }

  public mutating func begin() -> [Step] { [step(bisection.begin())] }

  /// Takes the answer to a part that was asked for; each once.
  public mutating func answered(_ part: Part, isRefused: Bool) -> [Step] {
    let steps = isRefused ? bisection.poisoned(part.part) : bisection.cleared(part.part)
    return steps.map(step)
  }

  private func step(_ step: Bisection.Step) -> Step {
    switch step {
    case .ask(let part):
      .ask(Part(symbols: part.symbols.isEmpty ? [control] : part.symbols, part: part))
    case .quarantine(let symbol): .condemned(symbol)
    case .abandon: .abandoned
    }
  }
}
