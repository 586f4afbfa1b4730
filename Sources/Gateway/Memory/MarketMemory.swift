/// Where the newest state is published, and who is told of each change.

import AppStore
import Platform

/// Holds the state that requests read. Readers wait for no more than the copy of a few references.
package final class MarketMemory: Sendable {
  private let published: Locked<MarketState>
  let coverage = CoverageMemory()

  package init(_ state: MarketState = MarketState()) { published = Locked(state) }

  package var state: MarketState { published.withLock { $0 } }

  /// - Throws: 503 before anything was read.
  func loaded() throws(Problem) -> MarketState {
    let state = self.state
    if !state.isLoaded { throw .storeAway }
    return state
  }

  /// The epochs stay: they are not of the feed.
  package func publish(_ state: MarketState) {
    published.withLock { published in
      var next = state
      next.epochs = published.epochs
      published = next
    }
  }

  func begin(_ epochs: AppEpochs) { published.withLock { $0.epochs = epochs } }
}

/// Who passes commits on to apps. Called in order, by one thread at a time, after the state that
/// contains the news is published; must not block.
package protocol FeedSink: Sendable {
  func receive(_ news: FeedNews)
}
