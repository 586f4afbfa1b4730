import TestTraits
import Testing

/// One at a time: each has daemons, servers and clients of its own, and minutes that must last.
@Suite(.serialized, .ownThread) enum EveryTrial {}
