import AppStore

/// What streams read of a gateway: memory, the ring of commits, the outboxes in the database.
struct GatewayStreamSource: StreamSource {
  let memory: MarketMemory
  let ring: FeedRing
  let store: AppStore

  var current: MarketState { memory.state }

  var hasLog: Bool { ring.isComplete }

  func updates(after seq: Int64) -> [FeedUpdate]? {
    switch ring.updates(after: seq, epoch: memory.state.epoch) {
    case .updates(let updates): updates
    case .pastHorizon, .anotherDatabase: nil
    }
  }

  var resolver: Follower.Resolver {
    let directory = memory.state.directory
    return { directory.place(spelling: $0) }
  }

  func outbox(of userID: Int64, after number: Int64?) async -> OutboxPage? {
    try? await store.run { [memory] (connection) throws(AppStoreError) in
      try Outbox.page(of: userID, after: number, over: connection, in: memory.state)
    }
  }
}
