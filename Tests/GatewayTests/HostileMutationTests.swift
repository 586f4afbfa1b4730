import Foundation
import HostileGateway
import TestTraits
import Testing

/// `script/trials storm --mutations 1000000` is the long form, `script/fuzz http frames` the one
/// that learns.
@Suite(.ownThread) struct HostileMutationTests {
  /// Of each kind, some seconds. `CANDLED_MUTATIONS` asks for more.
  private static let count =
    ProcessInfo.processInfo.environment["CANDLED_MUTATIONS"].flatMap { Int($0) } ?? 10_000

  @Test(
    "nothing that becomes of a request or a frame stops the gateway",
    arguments: HostileRun.Kind.allCases)
  func mutations(kind: HostileRun.Kind) {
    let seed = UInt64.random(in: 0..<1 << 32)
    let complaints = HostileRun(kind, count: Self.count, seed: seed).run()
    #expect(complaints.isEmpty, "seed \(seed): \(complaints.prefix(5))")
  }
}
