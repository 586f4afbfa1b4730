import Feeds
import Logging
import Market
import Operations
import Platform

/// The configuration read again while the daemon runs.
///
/// All or nothing: what `candled check --offline` would refuse changes nothing. What it accepts
/// comes into force, the settings that need a restart apart, whose old values stay.
extension Daemon {
  /// - Parameter read: reads and judges, as `check` does. Called here, never on the engine's loop.
  @discardableResult
  package func reload(
    reading read: () throws(ConfigurationError) -> ValidatedConfiguration
  ) async -> ReloadVerdict {
    let new: ValidatedConfiguration
    do throws(ConfigurationError) {
      new = try read()
    } catch {
      return conclude(.refused(error.problems.first?.description ?? error.description))
    }
    if let problem = new.problem {
      return conclude(.refused("\(problem.check): \(problem.detail)"))
    }
    let (old, taken) = inForce.withLock { inForce in
      let old = inForce
      inForce = old.takingLive(from: new)
      return (old, inForce)
    }
    RuleBook.use(operators: taken.rules, on: clock.now.shanghaiDay)
    await state.engine?.update(engineUpdate)
    publishKeyEnds()
    let changed = old.settings.changes(to: taken.settings) + old.filesChanged(to: taken)
    return conclude(
      ReloadVerdict(
        changed: changed, needsRestart: taken.settings.changes(to: new.settings),
        credentialsKept: taken.settings.credentialKeys.filter { !changed.contains($0) }))
  }

  func conclude(_ verdict: ReloadVerdict) -> ReloadVerdict {
    state.reloaded(
      at: EngineClock.realNow(), problem: verdict.problem, needsRestart: verdict.needsRestart)
    if let problem = verdict.problem {
      log.error(
        "reload refused, the previous configuration stays in force",
        metadata: ["problem": "\(problem)"])
      return verdict
    }
    log.notice(
      "reloaded",
      metadata: ["changed": "\(verdict.changed.isEmpty ? "nothing" : verdict.changedText)"])
    if !verdict.needsRestart.isEmpty {
      log.warning(
        "settings need a restart",
        metadata: ["settings": "\(verdict.needsRestart.joined(separator: ", "))"])
    }
    if !verdict.credentialsKept.isEmpty {
      log.notice(
        "credentials were not read again: renewed ones need a restart",
        metadata: ["settings": "\(verdict.credentialsKept.joined(separator: ", "))"])
    }
    return verdict
  }
}

/// What became of an order to reload.
package struct ReloadVerdict: Sendable, Hashable {
  /// The first thing that is wrong; nil if the new configuration is in force.
  package var problem: String?
  /// Settings that were taken up, and files they name whose contents were.
  package var changed: [String] = []
  /// Settings whose old values stay in force until a restart.
  package var needsRestart: [String] = []
  /// Settings that name a credential whose contents are what they were. systemd 252 copies them
  /// when it starts the service: one renewed since then is not seen.
  package var credentialsKept: [String] = []

  package var isAccepted: Bool { problem == nil }

  static func refused(_ problem: String) -> ReloadVerdict { ReloadVerdict(problem: problem) }

  var changedText: String { changed.joined(separator: ", ") }
}

extension ValidatedConfiguration {
  /// Settings that name the same file, which says something else now.
  fileprivate func filesChanged(to other: ValidatedConfiguration) -> [String] {
    let isSame = { (key: String) in !settings.changes(to: other.settings).contains(key) }
    var keys: [String] = []
    if isSame("quotes.symbols_file"), isSame("quotes.symbols"), symbols != other.symbols {
      keys.append("quotes.symbols_file")
    }
    if isSame(CalendarSettings.file.key), declaredDays != other.declaredDays {
      keys.append(CalendarSettings.file.key)
    }
    if isSame(RuleSettings.file.key), rules != other.rules { keys.append(RuleSettings.file.key) }
    if isSame(UniverseSettings.linksFile.key), declaredLinks != other.declaredLinks {
      keys.append(UniverseSettings.linksFile.key)
    }
    let files = credentials.sourcesChanged(to: other.credentials)
      .compactMap { $0.credentials?.file.key }
    return keys + files.filter(isSame)
  }
}
