/// The queries of the audit, each for rows that break an invariant.

import Postgres

extension LedgerAudit {
  /// One a query: every row becomes the text of the row.
  static let statements: [(Invariant, Statement)] = queries.map { invariant, query in
    (
      invariant,
      Statement(
        name: "audit_\(invariant)",
        sql: """
          select broken::text
          from (\(query)) as broken
          limit \(rowsMax)
          """)
    )
  }

  private static let queries: [(Invariant, String)] = [
    (.booked, booked), (.daily, daily), (.position, position), (.settled, settled), (.cash, cash),
    (.answered, answered), (.sequence, sequence),
  ]

  private static let sequence = """
    select account_id, min(sequence), max(sequence), count(*)
    from posting
    group by account_id
    having max(sequence) <> count(*)
    """

  /// Postings of shares that become others.
  private static let successions = "'rename', 'merger', 'conversion'"

  private static let booked = """
    select account_id, unit, kind, b.balance, e.total
    from book b
    full join (
      select account_id, unit, kind, sum(amount) as total
      from entry
      group by account_id, unit, kind
    ) e using (account_id, unit, kind)
    where b.balance is distinct from e.total
    """

  /// Balances of days.
  private static let daily = """
    select account_id, unit, trading_day, d.balance, d.paid_in, e.balance, e.paid_in
    from day_balance d
    full join (
      select
        account_id, unit, trading_day, change <> 0 or paid <> 0 as is_change,
        sum(change) over days as balance, sum(paid) over days as paid_in
      from (
        select
          p.account_id, e.unit, p.trading_day,
          coalesce(sum(e.amount) filter (
            where e.kind in ('available', 'frozen', 'sellable', 'today')), 0) as change,
          coalesce(-sum(e.amount) filter (where e.kind = 'world'), 0) as paid
        from posting p
        join entry e on e.account_id = p.account_id
          and e.posting_sequence = p.sequence
        group by p.account_id, e.unit, p.trading_day
      ) m
      window days as (partition by account_id, unit order by trading_day)
    ) e using (account_id, unit, trading_day)
    where (d.balance, d.paid_in) is distinct from (e.balance, e.paid_in)
      and (d.account_id is not null or e.is_change)
    """

  /// What was reversed counts as never filled.
  private static let standing = """
    select f.*
    from fill f
    where not \(LedgerTable.reversal(of: "f", by: "posting_sequence"))
    """

  private static let position = """
    select *
    from (
      select account_id, unit as symbol, sum(balance) as held
      from book
      where unit <> 'cash'
        and kind <> 'market'
      group by account_id, unit
    ) b
    full join (
      select account_id, symbol, sum(quantity) as due
      from (
        select
          f.account_id, e.unit, case o.side when 'buy' then f.quantity else -f.quantity end
        from (\(standing)) f
        join paper_order o on o.id = f.order_id
        -- The code of then: a rename changes that of an order.
        join entry e on e.account_id = f.account_id
          and e.posting_sequence = f.posting_sequence
          and e.unit <> 'cash'
          and e.kind = 'market'
        union all
        select p.account_id, e.unit, e.amount
        from posting p
        join entry e on e.account_id = p.account_id
          and e.posting_sequence = p.sequence
        where p.kind in ('bonus', \(successions))
          and e.unit <> 'cash'
          and e.kind <> 'market'
          and not \(LedgerTable.reversal(of: "p"))
      ) m (account_id, symbol, quantity)
      group by account_id, symbol
    ) d using (account_id, symbol)
    where coalesce(held, 0) <> coalesce(due, 0)
    """

  /// Per day: what was sold, and what was held when it began or came from a corporate action.
  private static let settled = """
    select m.account_id, m.unit, m.trading_day, m.sold, before.held, m.added
    from (
      select
        p.account_id, e.unit, p.trading_day, min(p.sequence) as first,
        -coalesce(
          sum(e.amount) filter (where p.kind in ('fill', 'reversal') and o.side = 'sell'), 0
        ) as sold,
        coalesce(
          sum(e.amount) filter (
            where p.kind = 'bonus'
              or p.kind in (\(successions)) and e.amount > 0
              or p.kind = 'reversal' and p.order_id is null), 0
        ) as added
      from posting p
      join entry e on e.account_id = p.account_id
        and e.posting_sequence = p.sequence
      left join paper_order o on o.id = p.order_id
      where e.unit <> 'cash'
        and e.kind <> 'market'
        and p.kind in ('fill', 'reversal', 'bonus', \(successions))
        and o.settles_same_day is not true
      group by p.account_id, e.unit, p.trading_day
    ) m
    cross join lateral (
      select coalesce(sum(last.balance_after), 0) as held
      from (values ('sellable'), ('today'), ('frozen')) as k (kind)
      cross join lateral (
        select b.balance_after
        from entry b
        join posting p on p.account_id = b.account_id
          and p.sequence = b.posting_sequence
        where b.account_id = m.account_id
          and b.unit = m.unit
          and b.kind = k.kind
          and b.posting_sequence < m.first
          and p.trading_day < m.trading_day
        order by b.posting_sequence desc, b.line desc
        limit 1
      ) last
    ) before
    where m.sold > before.held + m.added
    """

  private static let cash = """
    select *
    from (
      select account_id, sum(balance) as held
      from book
      where unit = 'cash'
        and kind in ('available', 'frozen')
      group by account_id
    ) b
    full join (
      select m.account_id, sum(m.amount) as due
      from (
        select e.account_id, e.amount
        from posting p
        join entry e on e.account_id = p.account_id
          and e.posting_sequence = p.sequence
        where (p.kind in ('deposit', 'withdrawal', 'dividend', \(successions))
            or p.kind = 'reversal' and p.order_id is null)
          and e.unit = 'cash'
          and e.kind = 'available'
        union all
        select
          o.account_id, case o.side when 'buy' then -o.amount else o.amount end - o.fees
        from (
          select
            o.account_id, o.side, o.id, f.trading_day,
            round(sum(f.price * f.quantity), 2) as amount,
            sum(f.fees) as fees
          from (
            select order_id, trading_day, price, quantity,
              commission + stamp_duty + transfer_fee as fees
            from fill
            union all
            select f.order_id, f.trading_day, f.price, -f.quantity,
              (
                select sum(e.amount)
                from entry e
                where e.account_id = r.account_id
                  and e.posting_sequence = r.sequence
                  and e.unit = 'cash'
                  and e.kind in ('commission', 'stamp_duty', 'transfer_fee')
              )
            from posting r
            join fill f on f.account_id = r.account_id
              and f.posting_sequence = r.refers_to
          ) f
          join paper_order o on o.id = f.order_id
          group by o.account_id, o.side, o.id, f.trading_day
        ) o
      ) m (account_id, amount)
      group by m.account_id
    ) d using (account_id)
    where coalesce(held, 0) <> coalesce(due, 0)
    """

  private static let answered = """
    select c.account_id, c.idempotency_key, count(*), count(o.id)
    from command c
    left join paper_order o on o.command_id = c.id
    group by c.account_id, c.idempotency_key
    having count(*) > 1
      or count(o.id) > 1
      or bool_or(c.kind not in ('order', 'replace') and o.id is not null)
      or bool_or(c.outcome = 'refused' and o.id is not null)
      or bool_or(c.fingerprint <> sha256(convert_to(c.body, 'UTF8')))
    """
}
