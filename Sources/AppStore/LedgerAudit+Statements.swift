/// The queries of the audit, each for rows that break an invariant.

import Postgres

extension LedgerAudit {
  static let whole = statements(
    "all",
    from: "select id as account_id, 0::bigint as floor from account "
      + "where cardinality($1::bigint[]) >= 0 and cardinality($2::bigint[]) >= 0")
  /// Those whose cost grows with the rows that are looked at, not with all there are.
  static let recent = statements(
    "recent", from: "select * from unnest($1::bigint[], $2::bigint[]) as s (account_id, floor)"
  ).filter { [.balanced, .chained, .positive, .frozen, .settled, .sequence].contains($0.key) }

  /// One a query: every row becomes the text of the row.
  private static func statements(_ scope: String, from scoped: String) -> [Invariant: Statement] {
    var statements: [Invariant: Statement] = [:]
    for (number, invariant) in Invariant.allCases.enumerated() {
      statements[invariant] = Statement(
        name: "audit_\(scope)_\(number)",
        sql: """
          with scope as (\(scoped))
          select broken::text
          from (\(query(invariant))) as broken
          limit \(rowsMax)
          """)
    }
    return statements
  }

  private static func query(_ invariant: Invariant) -> String {
    switch invariant {
    case .balanced: balanced
    case .chained: chained
    case .booked: booked
    case .daily: daily
    case .positive: positive
    case .position: position
    case .frozen: frozen
    case .settled: settled
    case .ordered: ordered
    case .cash: cash
    case .certain: certain
    case .answered: answered
    case .sequence: sequence
    }
  }

  /// Rows of an account behind the floor of `s`, by the index that begins with them: how few they
  /// are is not to be guessed, so nothing is pulled out of here.
  private static func behindFloor(_ table: String, by sequence: String) -> String {
    """
    cross join lateral (
      select *
      from \(table)
      where account_id = s.account_id
        and \(sequence) > s.floor
      offset 0
    )
    """
  }

  private static let balanced = """
    select e.account_id, e.posting_sequence, e.unit, sum(e.amount)
    from scope s
    \(behindFloor("entry", by: "posting_sequence")) e
    group by e.account_id, e.posting_sequence, e.unit
    having sum(e.amount) <> 0
    """

  private static let chained = """
    select *
    from (
      select
        e.account_id, e.posting_sequence, e.unit, e.kind, e.amount, e.balance_after,
        coalesce(
          lag(e.balance_after) over (
            partition by e.account_id, e.unit, e.kind
            order by e.posting_sequence, e.line),
          case when s.floor > 0 then (
            select balance_after
            from entry b
            where b.account_id = e.account_id
              and b.unit = e.unit
              and b.kind = e.kind
              and b.posting_sequence <= s.floor
            order by b.posting_sequence desc, b.line desc
            limit 1
          ) end,
          0) as before
      from scope s
      \(behindFloor("entry", by: "posting_sequence")) e
    ) e
    where balance_after <> before + amount
    """

  private static let booked = """
    select account_id, unit, kind, b.balance, e.total
    from scope
    join book b using (account_id)
    full join (
      select account_id, unit, kind, sum(amount) as total
      from scope
      join entry using (account_id)
      group by account_id, unit, kind
    ) e using (account_id, unit, kind)
    where b.balance is distinct from e.total
    """

  private static let positive = """
    select b.*
    from scope s
    join book b on b.account_id = s.account_id
    where b.balance < 0
      and b.kind in ('available', 'frozen', 'sellable', 'today')
    """

  /// What was reversed counts as never filled.
  private static let standing = """
    select f.*
    from fill f
    where not exists (
      select
      from posting r
      where r.account_id = f.account_id
        and r.refers_to = f.posting_sequence)
    """

  private static let position = """
    select *
    from (
      select b.account_id, b.unit as symbol, sum(b.balance) as held
      from scope s
      join book b on b.account_id = s.account_id
      where b.unit <> 'cash'
        and b.kind <> 'market'
      group by b.account_id, b.unit
    ) b
    full join (
      select account_id, symbol, sum(quantity) as due
      from (
        select
          f.account_id, o.symbol, case o.side when 'buy' then f.quantity else -f.quantity end
        from scope s
        join (\(standing)) f on f.account_id = s.account_id
        join paper_order o on o.id = f.order_id
        union all
        select p.account_id, a.symbol, e.amount
        from scope s
        join posting p on p.account_id = s.account_id
        join corporate_action a on a.id = p.corporate_action_id
        join entry e on e.account_id = p.account_id
          and e.posting_sequence = p.sequence
        where p.kind = 'bonus'
          and e.kind <> 'market'
          and not exists (
            select
            from posting r
            where r.account_id = p.account_id
              and r.refers_to = p.sequence)
      ) m (account_id, symbol, quantity)
      group by account_id, symbol
    ) d using (account_id, symbol)
    where coalesce(held, 0) <> coalesce(due, 0)
    """

  private static let frozen = """
    select *
    from (
      select b.account_id, b.unit, b.balance as held
      from scope s
      join book b on b.account_id = s.account_id
      where b.kind = 'frozen'
    ) b
    full join (
      select
        o.account_id,
        case o.side when 'buy' then 'cash' else o.symbol end as unit,
        sum(o.frozen) as due,
        bool_or(o.side = 'sell' and o.frozen <> o.quantity - o.filled) as is_other,
        bool_or(o.side = 'buy' and o.frozen < (o.quantity - o.filled) * o.worst_price - 0.01)
          as is_short
      from scope s
      join paper_order o on o.account_id = s.account_id
      where o.state in ('held', 'accepted', 'partially_filled', 'pending_cancel')
      group by 1, 2
    ) d using (account_id, unit)
    where coalesce(held, 0) <> coalesce(due, 0)
      or is_other
      or is_short
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
            where p.kind = 'bonus' or p.kind = 'reversal' and p.order_id is null), 0
        ) as added
      from (
        select
          s.account_id,
          coalesce(
            (
              select b.sequence
              from posting b
              where b.account_id = s.account_id
                and b.sequence <= s.floor
                and b.trading_day < p.trading_day
              order by b.sequence desc
              limit 1
            ), 0) as floor
        from scope s
        join posting p on p.account_id = s.account_id
          and p.sequence = s.floor + 1
        offset 0
      ) s
      \(behindFloor("posting", by: "sequence")) p
      cross join lateral (
        select *
        from entry
        where account_id = p.account_id
          and posting_sequence = p.sequence
        offset 0
      ) e
      left join lateral (
        select *
        from paper_order
        where id = p.order_id
        offset 0
      ) o on true
      where e.unit <> 'cash'
        and e.kind <> 'market'
        and p.kind in ('fill', 'reversal', 'bonus')
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

  private static let ordered = """
    select o.id, o.state, o.quantity, o.filled, f.filled, f.turnover, f.amount
    from scope s
    join paper_order o on o.account_id = s.account_id
    left join (
      select
        f.order_id,
        sum(f.quantity) as filled,
        sum(f.quantity * f.price) filter (where f.trading_day = o.trading_day) as turnover,
        sum(f.amount) filter (where f.trading_day = o.trading_day) as amount,
        bool_or(
          case o.side when 'buy' then f.price > o.worst_price else f.price < o.worst_price end
        ) as is_worse
      from (\(standing)) f
      join paper_order o on o.id = f.order_id
      group by f.order_id
    ) f on f.order_id = o.id
    where o.filled > o.quantity
      or o.filled <> coalesce(f.filled, 0)
      or o.turnover <> coalesce(f.turnover, 0)
      or (o.state = 'filled') and o.filled < o.quantity and not exists (
        select
        from posting p
        where p.order_id = o.id
          and p.kind = 'reversal')
      or f.is_worse
    """

  private static let cash = """
    select *
    from (
      select b.account_id, sum(b.balance) as held
      from scope s
      join book b on b.account_id = s.account_id
      where b.unit = 'cash'
        and b.kind in ('available', 'frozen')
      group by b.account_id
    ) b
    full join (
      select m.account_id, sum(m.amount) as due
      from scope s
      join (
        select e.account_id, e.amount
        from posting p
        join entry e on e.account_id = p.account_id
          and e.posting_sequence = p.sequence
        where (p.kind in ('deposit', 'withdrawal', 'dividend')
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
      ) m (account_id, amount) on m.account_id = s.account_id
      group by m.account_id
    ) d using (account_id)
    where coalesce(held, 0) <> coalesce(due, 0)
    """

  private static let certain = """
    select f.order_id, f.sequence, f.filled_so_far, f.possible_so_far
    from scope s
    join fill f on f.account_id = s.account_id
    where f.filled_so_far > f.possible_so_far
    """

  private static let answered = """
    select c.account_id, c.idempotency_key, count(*), count(o.id)
    from scope s
    join command c on c.account_id = s.account_id
    left join paper_order o on o.command_id = c.id
    group by c.account_id, c.idempotency_key
    having count(*) > 1
      or count(o.id) > 1
      or bool_or(c.kind not in ('order', 'replace') and o.id is not null)
      or bool_or(c.outcome = 'refused' and o.id is not null)
      or bool_or(c.fingerprint <> sha256(convert_to(c.body, 'UTF8')))
    """

  private static let sequence = """
    select p.account_id, min(p.sequence), max(p.sequence), count(*)
    from scope s
    \(behindFloor("posting", by: "sequence")) p
    group by p.account_id, s.floor
    having max(p.sequence) <> count(*) + s.floor
    """
}
