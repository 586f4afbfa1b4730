// A walk through the pages of one answer, with the guards a token without end needs.
//
// Tokens are opaque, and a page may be short or empty although more follow
// (docs/sources/alpaca.md#paging): only a missing token ends a walk. What must never happen is a
// walk that does not end: a token that comes again, empty pages without end, more pages than the
// rows can fill twice over.

/// The pages of one question.
package struct PageWalk: Sendable {
  package enum Step: Sendable, Hashable {
    case next(token: String)
    case complete
    /// It would not end. What was read counts; the walk is to be begun anew later.
    case broken(Fault)
  }

  package enum Fault: Sendable, Hashable, CaseIterable {
    case tokenRepeated
    case emptyPages
    case tooManyPages
  }

  private var tokens: Set<String> = []
  private var emptyPages = 0
  private var pages = 0
  private let pagesMax: Int

  /// The second empty page with a token is one too many.
  static let emptyPagesMax = 1
  static let pagesSpare = 10

  /// - Parameters:
  ///   - rows: as many as can be expected.
  ///   - pageRows: at most so many on a page.
  package init(rows: Int, pageRows: Int) {
    pagesMax = (rows + pageRows - 1) / pageRows * 2 + PageWalk.pagesSpare
  }

  /// Takes in a page of so many rows.
  package mutating func received(rows: Int, token: String?) -> Step {
    pages += 1
    guard let token else { return .complete }
    if rows == 0 { emptyPages += 1 }
    if !tokens.insert(token).inserted { return .broken(.tokenRepeated) }
    if emptyPages > PageWalk.emptyPagesMax { return .broken(.emptyPages) }
    if pages >= pagesMax { return .broken(.tooManyPages) }
    return .next(token: token)
  }
}
