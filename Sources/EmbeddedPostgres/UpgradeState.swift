/// How far the upgrade of a cluster has come, in a file beside its data. It is written when a step
/// is done, and brought to the disk before the next begins: a run that was killed is followed by
/// one that goes on behind the last step.

import Glibc
import Platform

package struct UpgradeState: Sendable, Hashable {
  package enum Step: String, Sendable, CaseIterable {
    /// `data.new` has what the data has.
    case transferred
    /// It was compared with the data, and is what `data` is to be.
    case verified
    /// It is `data`, and what that was is `data.old`.
    case replaced
  }

  package var step: Step
  package var from: Int
  package var to: Int
  /// Of the old data, when the step was done. A server that ran on it since may have written: what
  /// was made of it is worth nothing then.
  var checkpoint: String
  /// The newest day with certificates; nil before the first.
  var certifiedThrough: String?

  private static let noDay = "-"

  var text: String {
    "\(step.rawValue) \(from) \(to) \(checkpoint) \(certifiedThrough ?? Self.noDay)\n"
  }

  /// nil for another text.
  init?(text: String) {
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    guard words.count == 5, let step = Step(rawValue: words[0]), let from = Int(words[1]),
      let to = Int(words[2])
    else { return nil }
    self.init(step: step, from: from, to: to, checkpoint: words[3])
    certifiedThrough = words[4] == Self.noDay ? nil : words[4]
  }

  init(step: Step, from: Int, to: Int, checkpoint: String) {
    self.step = step
    self.from = from
    self.to = to
    self.checkpoint = checkpoint
  }
}

extension EmbeddedServer {
  private var upgradeStatePath: String { directory + "/upgrade.state" }

  /// nil where no upgrade was begun, or its end was discarded.
  package var upgradeState: UpgradeState? {
    UpgradeState(text: SmallFile.text(of: upgradeStatePath))
  }

  func save(_ state: UpgradeState) throws(EmbeddedServerError) {
    try replaceForGood(upgradeStatePath, by: state.text)
  }

  func removeUpgradeState() { unlink(upgradeStatePath) }

  /// The same folder for an upgrade alone.
  func serving(_ part: Part) -> EmbeddedServer {
    var server = self
    server.part = part
    return server
  }

  /// Ends what a killed upgrade left: its servers, and the second of its two renames.
  func finishUpgrade() throws(EmbeddedServerError) {
    for part in [Part.old, .new] { try serving(part).stop() }
    guard var state = upgradeState, state.step == .verified, !isInitialized,
      serving(.new).isInitialized
    else { return }
    try install()
    state.step = .replaced
    try save(state)
  }
}
