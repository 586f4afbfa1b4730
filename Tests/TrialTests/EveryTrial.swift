import TestTraits
import Testing

/// Trials mostly wait, so that its suites run side by side; inside a suite one goes after the
/// other. Each has daemons, servers and clients of its own, and minutes that must last.
@Suite(.ownThread) enum EveryTrial {}
