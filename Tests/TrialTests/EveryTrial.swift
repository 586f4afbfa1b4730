import TestTraits
import Testing

/// Trials mostly wait, so that three go at once: two of chaos and one of days. Each has daemons,
/// servers and clients of its own, and minutes that must last.
@Suite(.ownThread) enum EveryTrial {
  /// One after the other, as the sections of a chain of chaos.
  @Suite(.serialized) enum Days {}
}
