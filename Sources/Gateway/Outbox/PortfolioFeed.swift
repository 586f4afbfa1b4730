/// Values the portfolios that streams follow, once a second, and passes on those that changed.
/// While they are followed that costs the database one statement a second; an account is read again
/// only after its ledger grew or its triggers changed, when a day begins, and once a minute.

import AppStore
import Market
import Platform

package actor PortfolioFeed {
  private let service: TradingService
  private let hub: StreamHub
  /// By account.
  private var known: [Int64: Known] = [:]

  private struct Known {
    let version: AccountVersion
    let readAt: ContinuousClock.Instant
    let holdings: AccountHoldings
    var json: [UInt8] = []
  }

  private static let periodMilliseconds = 1_000
  /// Of instruments without quotes, whose prices are those of bars.
  private static let readSecondsMax = 60

  init(service: TradingService, hub: StreamHub) {
    self.service = service
    self.hub = hub
  }

  /// Until its task is cancelled.
  package func run() async {
    while !Task.isCancelled {
      await turn()
      try? await Task.sleep(for: .milliseconds(Self.periodMilliseconds))
    }
  }

  private func turn() async {
    let users = hub.services.portfolios.followed
    hub.services.portfolios.forget(allBut: users)
    guard !users.isEmpty else {
      known = [:]
      return
    }
    let versions = try? await service.reading.run { (connection) throws(AppStoreError) in
      try AccountVersion.all(of: users.sorted(), over: connection)
    }
    guard let versions else { return }
    let accounts = Set(versions.map(\.accountID))
    known = known.filter { accounts.contains($0.key) }
    var changed: [Int64: [Int64: [UInt8]]] = [:]
    for version in versions {
      if let json = try? await valued(version) {
        changed[version.userID, default: [:]][version.accountID] = json
      }
    }
    if !changed.isEmpty { hub.deliver(portfolios: changed) }
  }

  /// - Returns: nil where it is as it was.
  private func valued(_ version: AccountVersion) async throws(Problem) -> [UInt8]? {
    let before = known[version.accountID]
    var kept: Known? = before.flatMap { before in
      let isOld = before.readAt.duration(to: .now) > .seconds(Self.readSecondsMax)
      return before.version == version && !isOld ? before : nil
    }
    let state = service.memory.state
    let holdings: AccountHoldings
    if let revalued = kept?.holdings.revalued(in: state) {
      holdings = revalued
    } else {
      let account = try await service.reading.run { (connection) throws(AppStoreError) in
        try AccountTable(connection, userID: version.userID).account(version.accountID)
      }
      holdings = try await service.holdings(of: account, in: state)
      kept = Known(version: version, readAt: .now, holdings: holdings)
    }
    let portfolio = try holdings.portfolio()
    var json = JSONWriter.encode { text in
      text.write(portfolio, as: Portfolio.streamed)
      text.list("stocks", of: portfolio.holdings, as: ValuedHolding.streamed)
    }
    // What is held may not fit into a message.
    if json.count > StreamLimits.objectBytesMax {
      json = JSONWriter.encode { $0.write(portfolio, as: Portfolio.streamed) }
    }
    kept?.json = json
    known[version.accountID] = kept
    return json == before?.json ? nil : json
  }
}

/// Whose portfolios streams follow, and what they were last.
final class PortfolioBoard: Sendable {
  private struct State: Sendable {
    var counts = Counts<Int64>()
    /// By user and account.
    var last: [Int64: [Int64: [UInt8]]] = [:]
  }

  private let state = Locked(State())

  var followed: Set<Int64> { state.withLock { $0.counts.keys } }

  /// - Returns: what is known, by account; the rest comes within a second.
  func follow(_ userID: Int64) -> [Int64: [UInt8]] {
    state.withLock { state in
      state.counts.add(userID)
      return state.last[userID] ?? [:]
    }
  }

  func leave(_ userID: Int64) { state.withLock { $0.counts.remove(userID) } }

  func forget(allBut users: Set<Int64>) {
    state.withLock { state in state.last = state.last.filter { users.contains($0.key) } }
  }

  func note(_ portfolios: [Int64: [Int64: [UInt8]]]) {
    state.withLock { state in
      for (user, accounts) in portfolios {
        state.last[user, default: [:]].merge(accounts) { $1 }
      }
    }
  }
}

extension Portfolio {
  fileprivate static let streamed = Shape<Portfolio>(
    fields: [
      .string("account") { String($0.account.id) }, .string("currency") { $0.account.currency },
      .decimal("cash") { $0.cash }, .decimal("available") { $0.account.available },
      .decimal("marketValue") { $0.value }, .decimal("value") { $0.equity },
      .decimal("cost") { $0.cost }, .decimal("profit") { $0.profit },
      .decimal("profitToday") { $0.profitToday }, .boolean("stale") { $0.isStale },
    ])
}

extension ValuedHolding {
  fileprivate static let streamed = Shape<ValuedHolding>(
    fields: [
      .string("stockSymbol") { $0.record.symbol.description },
      .decimal("quantity") { $0.record.quantity }, .decimal("sellable") { $0.sellable },
      .optionalDecimal("averagePrice") { $0.record.averagePrice },
      .optionalDecimal("currentPrice") { $0.price.last },
      .optionalDecimal("low") { $0.record.triggers.low },
      .optionalDecimal("high") { $0.record.triggers.high }, .decimal("marketValue") { $0.value },
      .decimal("profit") { $0.profit }, .decimal("profitToday") { $0.profitToday },
      .boolean("stale") { $0.price.isStale },
    ])
}
