import Market

/// The newest stamp each request group has shown. The lower half of a group's number is its
/// source's own, from 0; the upper one is the source's rank, so that no two sources share a group.
struct GroupWatermarks: Sendable, Hashable {
  private var stampsByRank: [[Timestamp?]] = []

  private static let numberBits: UInt32 = 16

  /// The rank of the source that a group is of, and the group's number there.
  private static func place(of group: UInt32) -> (rank: Int, number: Int) {
    (Int(group >> numberBits), Int(group & (1 << numberBits - 1)))
  }

  subscript(group: UInt32) -> Timestamp? {
    let (rank, number) = Self.place(of: group)
    guard rank < stampsByRank.count, number < stampsByRank[rank].count else { return nil }
    return stampsByRank[rank][number]
  }

  mutating func raise(_ group: UInt32, to stamp: Timestamp) {
    if let known = self[group], known >= stamp { return }
    let (rank, number) = Self.place(of: group)
    while stampsByRank.count <= rank { stampsByRank.append([]) }
    while stampsByRank[rank].count <= number { stampsByRank[rank].append(nil) }
    stampsByRank[rank][number] = stamp
  }

  var newest: Timestamp? { all.map(\.stamp).max() }

  /// The groups that have a stamp, in order.
  var all: [(group: UInt32, stamp: Timestamp)] {
    stampsByRank.enumerated().flatMap { rank, stamps in
      stamps.enumerated().compactMap { number, stamp in
        stamp.map { (UInt32(rank) << Self.numberBits | UInt32(number), $0) }
      }
    }
  }
}
