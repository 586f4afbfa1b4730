/// What each role may do with each object of the schema: `s`elect, `i`nsert, `u`pdate, `d`elete,
/// `t`runcate, e`x`ecute. A new object must be entered here, or `RightsTests` fails.
enum RightsTable {
  typealias Rights = (daemon: String, reader: String)

  static let tables: [String: Rights] = [
    "schema_version": ("s", "s"),
    "market": ("siu", "s"),
    "rule": ("siu", "s"),
    "source": ("siu", "s"),
    "instrument": ("siu", ""),
    "instrument_name": ("siu", ""),
    "instrument_link": ("siu", ""),
    "trading_day": ("siu", ""),
    "market_session": ("siu", "s"),
    "instrument_list": ("siu", ""),
    "adjustment_factor": ("siu", ""),
    "api_key_usage": ("siu", ""),
    "bar_watermark": ("siu", ""),
    "backfill_chunk": ("siu", ""),
    "quote": ("siu", ""),
    "overview": ("siu", ""),
    "candle": ("siu", ""),
    "candle_month": ("s", ""),
    "candle_moving": ("s", ""),
    "candle_revision": ("siu", ""),
    "price_range": ("s", ""),
    "gap": ("siu", ""),
    "day_audit": ("siu", ""),
    "day_lock": ("siu", ""),
    "disagreement": ("siu", ""),
    "rejected": ("siu", ""),
    "serving": ("siu", ""),
    "source_health": ("siu", ""),
    "journal_position": ("siu", ""),
    "feed_sequence": ("siu", ""),
    "change": ("siu", ""),
    "lease": ("su", ""),
    "lease_term": ("siu", ""),
    "ledger": ("s", ""),
    "ledger_day": ("s", ""),
  ]

  static let views: Set<String> = [
    "instruments", "candle_1m", "candle_5m", "candle_15m", "candle_30m", "candle_60m", "candle_1d",
    "candle_1w", "candle_1mo", "candle_1m_f8", "candle_5m_f8", "candle_15m_f8", "candle_30m_f8",
    "candle_60m_f8", "candle_1d_f8", "candle_1w_f8", "candle_1mo_f8", "ranges", "stored_candles",
    "rolled_candles", "latest", "coverage", "gaps",
    "revisions",
    "disagreements", "factors", "lists", "key_usage", "rejections", "health", "feed_instruments",
    "feed_quotes", "feed_overview", "feed_candles", "feed_revisions", "feed_gaps", "feed_audits",
    "feed_changes", "feed_rejections", "feed_health", "feed_place", "leaders",
    "feed_serving", "instrument_codes", "links",
  ]

  static let functions: [String: Rights] = {
    var rights: [String: Rights] = [:]
    let open = [
      "timeframe_name", "timeframe_code", "source_name", "gap_cause_name", "revision_cause_name",
      "trading_name", "exchange_name", "kind_name", "board_name", "book_prices", "book_volumes",
      "argument_error", "instrument_id", "symbol_error", "average_price", "source_names",
      "shown_candle", "market_of", "market_rule", "trading_sessions", "period_is_whole",
      "series_rows",
      "series_last", "series_adjusted", "series_forming", "series_rolled", "series_candles",
      "series_filled", "candles", "market_at", "flag_names", "why", "stored_days", "market_hours",
      "hours_bucket", "hours_bucket_end", "holds_minutes", "market_sources", "set_candles",
      "market_candles", "newest_day", "movers", "range_high", "range_low", "range_has",
      "feed_position", "changes", "schema_objects", "served", "served_on",
      "candle_moved", "is_replica", "factor_kind", "series_parts", "series_start", "living_id",
      "security_id",
    ]
    for name in open { rights[name] = ("x", "x") }
    rights["ensure_partition"] = ("x", "")
    rights["keep_ranges"] = ("x", "")
    for name in [
      "prune", "factored_id", "known_factors", "price_ratio", "link_instruments",
      "unlink_instruments",
    ] { rights[name] = ("x", "") }
    for name in ["feed_identity", "recluster_month", "swap_month"] { rights[name] = ("x", "") }
    // Of triggers: PostgreSQL refuses a call before it looks at rights.
    for name in ["month_arrived", "change_arrived", "chain_instruments"] {
      rights[name] = ("x", "x")
    }
    return rights
  }()

  /// What is not about one object.
  static let others: [(statement: String, isDaemons: Bool, isReaders: Bool)] = [
    ("create table candled.scratch (id integer)", false, false),
    ("create temporary table scratch (id integer)", true, false),
    ("select pg_advisory_unlock_all()", true, true),
    ("alter table candled.candle add column scratch integer", false, false),
    ("drop view candled.latest", false, false),
    ("create index on candled.quote (last)", false, false),
    ("comment on table candled.candle is ''", false, false),
    ("alter function candled.changes security invoker", false, false),
    ("create role scratch", false, false),
    ("lock table candled.candle in access exclusive mode", true, false),
    ("listen candled", true, true),
    ("select pg_notify('candled', '')", true, true),
    ("select pg_notification_queue_usage()", true, true),
    ("set role candled_owner", false, false),
    ("select query from pg_stat_activity", true, true),
    ("copy candled.latest to stdout", true, true),
    ("select pg_read_file('/etc/hostname')", false, false),
  ]
}
