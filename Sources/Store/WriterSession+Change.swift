import Commits
import Market
import Postgres

/// The end of every commit: journal position, sequence, change row and NOTIFY in one statement.
/// Its first two updates wait for the row locks of any other writer and then find the row changed
/// or not: that is what makes seq the order of commits, without a gap.
///
/// The fence of the lease is here too, in `held`. It locks the lease row FOR KEY SHARE while its
/// term is ours, as the last thing before the commit. A takeover changes `term`, which is a key of
/// its table, and so needs the row FOR UPDATE: it waits for every commit that has got this far, and
/// one that comes later finds the term gone (the condition is looked at again once the lock is
/// had) and writes nothing. So when a new term begins, all commits of the older ones are made and
/// seen by its `load`, or never will be. The renewal changes no key, takes FOR NO KEY UPDATE, and
/// neither waits for a commit nor holds one up. The lock is taken late because a daemon may be
/// stopped in the middle of a transaction: only between here and its commit is it in the way, and
/// then `LeaseConnection` ends its session.
extension WriterSession {
  private static let writeChange = Statement(name: "write_change", sql: daemons + notify)
  private static let writeQuietChange = Statement(name: "write_quiet_change", sql: daemons + quiet)
  /// History's: the daemon's position is only quoted, and the seq has been taken. It needs no
  /// lease: its bars come from an answer, not from a journal position, two of its writers agree by
  /// the rows' own locks, and a backfill is to run beside whichever daemon leads.
  private static let writeHistory = Statement(name: "write_history_change", sql: history + notify)
  private static let writeQuietHistory = Statement(
    name: "write_quiet_history_change", sql: history + quiet)

  private static let daemons = """
    with held as (
      select term
      from lease
      where term = $20::bigint
      for key share
    ),
    place as (
      update journal_position
      set position = $17::bigint, known_from = $2::timestamptz, updated_at = clock_timestamp(),
        book_state = $18::bytea
      where position = $19::bigint
      returning position
    ),
    counter as (
      update feed_sequence
      set last_seq = $1::bigint
      where last_seq = $1::bigint - 1
      returning 1
    ),
    \(logChange)

    """

  private static let history = """
    with held as (select null::bigint as term),
    place as (
      select position
      from journal_position
    ),
    counter as (select 1),
    \(logChange)

    """

  private static let logChange = """
    logged as (
      insert into change
        (seq, committed_at, known_at, position, quotes, rejections, candle_instrument_ids,
        candle_timeframes, candle_opened_ats, revision_instrument_ids, revision_timeframes,
        revision_opened_ats, gap_ids, closed_gap_ids, audit_instrument_ids, audit_days, events,
        term)
      select $1::bigint, clock_timestamp(), $2::timestamptz, position, $3::int, $4::int,
        $5::int[], $6::smallint[], $7::timestamptz[], $8::int[], $9::smallint[],
        $10::timestamptz[], $11::bigint[], $12::bigint[], $13::int[], $14::date[], $15::jsonb,
        held.term
      from place
      cross join counter
      cross join held
      returning 1
    )
    """

  private static let notify = """
    select pg_notify('candled', $16::text)
    from logged
    """
  /// Where the hint cannot be given: followers find the row by their timers.
  private static let quiet = """
    select $16::text
    from logged
    """

  private static let takeSeq = Statement(
    name: "take_seq",
    sql: """
      update feed_sequence
      set last_seq = last_seq + 1
      returning last_seq
      """)

  /// At the very end of a commit that nobody else must wait for: its rows may take a second, the
  /// row lock only lasts from here on.
  func takeSeq(in context: inout CommitContext) throws(StoreError) {
    var row = try connection.run(Self.takeSeq, context: CommitStep.commit).row(0)
    context.seq = try row.int64()
  }

  /// - Returns: whether it took effect; false when another writer was quicker.
  func writeChange(
    _ commit: Commit, in context: CommitContext
  ) throws(StoreError) -> Bool {
    let notifies = context.strategy.notifies
    let certificates = context.keys.certificates.sorted()
    var parameters = WireParameters(
      .int64(context.seq), .timestamp(commit.knownAt),
      .int32(Int32(clamping: context.receipt.quotes)),
      .int32(Int32(clamping: context.receipt.rejections)))
    add(context.keys.candles, to: &parameters)
    add(context.keys.revisions, to: &parameters)
    parameters.add { $0.array(context.keys.gaps, type: .int8) { $0.int64($1) } }
    parameters.add { $0.array(context.keys.closedGaps, type: .int8) { $0.int64($1) } }
    parameters.add { $0.array(certificates, type: .int4) { $0.int32($1.instrument) } }
    parameters.add { $0.array(certificates, type: .date) { $0.date($1.day) } }
    parameters.add { $0.jsonb(FeedEventText.array(context.corrected(commit.events))) }
    parameters.add { $0.text(notice(of: context)) }
    let statement: Statement
    if !context.isHistory {
      statement = notifies ? Self.writeChange : Self.writeQuietChange
      parameters.add { $0.int64(commit.position.sequence) }
      parameters.add { $0.bytes(commit.bookState) }
      parameters.add { $0.int64(position.sequence) }
      parameters.add { $0.int64(term) }
    } else {
      statement = notifies ? Self.writeHistory : Self.writeQuietHistory
    }
    return try connection.run(statement, with: parameters, context: CommitStep.change).rowCount == 1
  }

  private func add(_ keys: [CandleKey], to parameters: inout WireParameters) {
    parameters.add { $0.array(keys, type: .int4) { $0.int32($1.instrument) } }
    parameters.add { $0.array(keys, type: .int2) { $0.int16($1.timeframe) } }
    parameters.add { $0.array(keys, type: .timestamptz) { $0.timestamp($1.openedAt) } }
  }

  /// The hint: under 200 bytes even if every number in it had all its digits.
  private func notice(of context: CommitContext) -> String {
    let receipt = context.receipt
    return """
      {"v":1,"epoch":\(epoch),"first":\(context.seq),"last":\(context.seq),\
      "q":\(receipt.quotes),"c":\(receipt.candles),"r":\(receipt.revisions),"g":\(receipt.gaps),\
      "a":\(receipt.certificates),"e":\(receipt.events)}
      """
  }
}

/// Control events as JSON. The reader lets the server take it apart (`jsonb_to_recordset`), so the
/// names here are columns there.
enum FeedEventText {
  static func array(_ events: [FeedEvent]) -> String {
    "[" + events.map(object).joined(separator: ",") + "]"
  }

  /// Every string in it is a number, a date, a name of ours: nothing needs escaping.
  static func object(_ event: FeedEvent) -> String {
    switch event {
    case .minuteComplete(let minute):
      """
      {"event":"minute_complete","trading_day":"\(minute.tradingDay)",\
      "at":"\(minute.openedAt)","expected":\(minute.expected),"traded":\(minute.traded),\
      "untraded":\(minute.untraded),"missing":\(minute.missing)}
      """
    case .feedStalled(let source, let since):
      #"{"event":"feed_stalled","source":"\#(source)","at":"\#(since)"}"#
    case .feedRecovered(let source, let at):
      #"{"event":"feed_recovered","source":"\#(source)","at":"\#(at)"}"#
    case .dayComplete(let day, let instruments, let residuals):
      """
      {"event":"day_complete","trading_day":"\(day)","instruments":\(instruments),\
      "residuals":\(residuals)}
      """
    case .codesChanged(let day, let count):
      #"{"event":"codes_changed","trading_day":"\#(day)","instruments":\#(count)}"#
    case .dispute(let dispute):
      """
      {"event":"\(dispute.kind.rawValue)","symbol":"\(dispute.symbol)",\
      "trading_day":"\(dispute.tradingDay)","at":"\(dispute.at)"}
      """
    }
  }
}
