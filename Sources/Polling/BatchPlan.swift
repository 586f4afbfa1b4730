// Which symbols are asked for together.
//
// Every batch begins with the reference symbol, an index that moves all day: its stamp proves how
// far the whole answer reaches. A symbol keeps its group when others come and go, because an answer
// is compared with the one its group gave before: an unchanged poll must stay recognisable.
import Market

/// Symbols in numbered groups.
package struct BatchPlan: Sendable {
  package let referenceSymbol: Symbol
  /// The reference symbol included.
  package let symbolsMax: Int
  /// The symbols of each group, without the reference symbol.
  package private(set) var groups: [[Symbol]] = []

  /// What clients have sent in one request for twelve years (docs/sources/sina.md#requests).
  package static let symbolsMaxDefault = 800

  /// - Precondition: `symbolsMax` is at least 2.
  package init(_ symbols: [Symbol], referenceSymbol: Symbol, symbolsMax: Int = symbolsMaxDefault) {
    precondition(symbolsMax >= 2, "a batch is the reference symbol and at least one more")
    self.referenceSymbol = referenceSymbol
    self.symbolsMax = symbolsMax
    replace(with: symbols)
  }

  /// Takes a new list: what stays keeps its group, what is new fills the groups up.
  /// Where they are more than groups of that size have numbers for, groups are larger.
  package mutating func replace(with symbols: [Symbol]) {
    var added: [Symbol] = []
    var wanted = Set<Symbol>()
    for symbol in symbols where symbol != referenceSymbol && wanted.insert(symbol).inserted {
      added.append(symbol)
    }
    let known = Set(groups.joined())
    groups = groups.map { group in group.filter(wanted.contains) }
    added.removeAll(where: known.contains)
    let symbolsMin = (wanted.count + Self.groupsMax - 1) / Self.groupsMax
    fill(with: added, room: max(symbolsMax - 1, symbolsMin))
    while groups.last?.isEmpty == true { groups.removeLast() }
    // The reference symbol alone is a batch too, if it was asked for.
    if groups.isEmpty, symbols.contains(referenceSymbol) { groups = [[]] }
  }

  /// The last number is that of probes.
  private static let groupsMax = Int(UInt16.max)

  /// - Parameter room: in a group, without the reference symbol.
  private mutating func fill(with added: [Symbol], room: Int) {
    var rest = added[...]
    for index in groups.indices where !rest.isEmpty {
      let left = max(room - groups[index].count, 0)
      groups[index] += rest.prefix(left)
      rest = rest.dropFirst(left)
    }
    while !rest.isEmpty {
      groups.append(Array(rest.prefix(room)))
      rest = rest.dropFirst(room)
    }
  }

  /// The batch of a group as it is sent, without what is left out: the reference symbol first.
  package func batch(_ group: UInt16, without excluded: Set<Symbol> = []) -> [Symbol] {
    let symbols = groups[Int(group)]
    return [referenceSymbol]
      + (excluded.isEmpty ? symbols : symbols.filter { !excluded.contains($0) })
  }
}
