/// The query of the audit for balances of days.

extension LedgerAudit {
  static let daily = """
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
}
