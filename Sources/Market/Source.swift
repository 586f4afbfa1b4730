/// Whose data it is: the code of a row in the table `source`, which has its name, market and kind.
///
/// The code is stored with each row and each journal entry, so it never changes its meaning. What a
/// source is called and what it can do is declared once, by the source itself. Series of different
/// sources never mix.

public struct Source: RawRepresentable, Sendable, Hashable {
  public let rawValue: Int16

  public init(rawValue: Int16) { self.rawValue = rawValue }

  /// The series that candled builds itself, from live quotes, whichever live source sent them.
  public static let live = Source(rawValue: 1)
}
