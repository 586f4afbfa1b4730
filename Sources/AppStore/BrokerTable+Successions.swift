import Alerts
import Market
import PaperTrading
import Postgres

/// Links of instruments, and what refers to one beside accounts once it has another code or has
/// become another one.
extension BrokerTable {
  /// In SQL, links of instruments that say what becomes of a share, within the bounds of
  /// `CorporateActionTerms`, and the actions that were made of links.
  private static let links = """
    links as (
      select distinct
        from_symbol as symbol, to_symbol as successor, day as ex_day, kind,
        case when kind = 'rename' then 1 else ratio end as per_share,
        case when cash > 0 then cash end as cash
      from candled.links
      where known_to is null
        and verdict <> 'suspected'
        and from_symbol <> to_symbol
        and (
          kind = 'rename'
          or kind in ('merger', 'conversion')
            and ratio > 0
            and ratio <= 10000
            and scale(trim_scale(ratio)) <= 9)
    ),
    actions as (
      select symbol, successor, ex_day, kind, per_share, cash
      from corporate_action
      where successor is not null
        and withdrawn_at is null
    ),
    added as (
      select * from links
      except
      select * from actions
    ),
    gone as (
      select * from actions
      except
      select * from links
    )
    """

  private static let countLinks = Statement(
    name: "count_new_links",
    sql: """
      with \(links)
      select (select count(*) from added) + (select count(*) from gone)
      """)

  private static let writeLinks = Statement(
    name: "write_links",
    sql: """
      with \(links),
      withdrawn as (
        update corporate_action a
        set withdrawn_at = now()
        from gone g
        where a.withdrawn_at is null
          and (a.symbol, a.successor, a.ex_day, a.kind, a.per_share)
            = (g.symbol, g.successor, g.ex_day, g.kind, g.per_share)
      )
      insert into corporate_action (symbol, successor, ex_day, kind, per_share, cash)
      select symbol, successor, ex_day, kind, per_share, cash
      from added
      order by ex_day, symbol
      """)

  /// Makes corporate actions of links that are new, and withdraws those of links that were taken
  /// back.
  package func takeLinks() throws(AppStoreError) {
    guard try numbers(Self.countLinks).first ?? 0 > 0 else { return }
    try write(Self.writeLinks, with: [])
  }

  /// Those that were booked and stand, in the order of their days.
  package func successions() throws(AppStoreError) -> [CorporateAction] {
    try CorporateActionTable(connection).all()
      .filter { $0.terms.successor != nil && $0.bookedOn != nil && $0.withdrawnAt == nil }
      .sorted { ($0.exDay, $0.id) < ($1.exDay, $1.id) }
  }

  /// Alerts, watchlists and prices that highlight follow a rename. Of an instrument that became
  /// another one, whose prices are others, alerts end with a notice, and the rest stays.
  func follow(_ action: CorporateAction) throws(AppStoreError) {
    guard let successor = action.terms.successor else { return }
    let codes = [action.symbol, successor].map { WireParameter.text($0.description) }
    // Who fires alerts has the outbox before it changes them: each must not wait for the other.
    _ = try read(NoticeTable.lock) { (_) throws(StoreError) in () }
    if action.terms.kind == .rename {
      for statement in Self.renames { try write(statement, with: codes) }
      try write(Self.renumberWatchlists, with: [codes[1]])
    } else {
      let basis = AlertBasis(rawValue: action.terms.kind.rawValue)
      try write(
        Self.endAlerts,
        with: [codes[0], .text(basis?.rawValue), .day(action.exDay)])
    }
  }

  private static let renames = [
    Statement(
      name: "rename_alerts",
      sql: """
        update alert
        set symbol = $2::text
        where symbol = $1::text
          and state <> 'deleted'
        """),
    Statement(
      name: "rename_holding_triggers",
      sql: """
        update holding_trigger t
        set symbol = $2::text
        where t.symbol = $1::text
          and not exists (
            select
            from holding_trigger n
            where n.account_id = t.account_id
              and n.symbol = $2::text)
        """),
    // Where both codes are in a list, the new one stays.
    Statement(
      name: "drop_former_watchlist_items",
      sql: """
        delete from watchlist_item i
        where i.symbol = $1::text
          and exists (
            select
            from watchlist_item n
            where n.watchlist_id = i.watchlist_id
              and n.symbol = $2::text)
        """),
    Statement(
      name: "rename_watchlist_items",
      sql: """
        with renamed as (
          update watchlist_item
          set symbol = $2::text
          where symbol = $1::text
          returning watchlist_id
        )
        update watchlist w
        set updated_at = clock_timestamp()
        from renamed r
        where w.id = r.watchlist_id
        """),
  ]

  private static let renumberWatchlists = Statement(
    name: "renumber_watchlist_items",
    sql: """
      update watchlist_item i
      set position = n.place
      from (
        select
          watchlist_id, symbol,
          row_number() over (partition by watchlist_id order by position) - 1 as place
        from watchlist_item
        where watchlist_id in (
          select watchlist_id
          from watchlist_item
          where symbol = $1::text)
      ) n
      where i.watchlist_id = n.watchlist_id
        and i.symbol = n.symbol
        and i.position <> n.place
      """)

  private static let endAlerts = Statement(
    name: "end_alerts",
    sql: """
      with ended as (
        update alert
        set state = 'ended'
        where symbol = $1::text
          and state = 'armed'
        returning id, user_id, revision, symbol, source, condition, threshold
      )
      insert into notification (
        user_id, alert_id, revision, period, kind, symbol, source, condition, threshold,
        trading_day, basis, feed_epoch, feed_seq, observed_at)
      select
        e.user_id, e.id, e.revision, 'once', 'ended', e.symbol, e.source, e.condition, e.threshold,
        $3::date, $2::text, coalesce(p.epoch, 0), coalesce(p.last_seq, 0),
        case when isfinite(p.known_at) then p.known_at else now() end
      from ended e
      left join candled.feed_position() p on true
      order by e.id
      """)
}
