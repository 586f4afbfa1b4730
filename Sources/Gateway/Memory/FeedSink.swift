/// Where the feed follower delivers what it reads.

package protocol FeedSink: Sendable {
  func receive(_ news: FeedNews)
}
