import Market
import PaperTrading
import Postgres

/// A request of a user under a key of the user's own.
package struct KeyedRequest: Sendable, Hashable {
  package var accountID: Int64
  package var key: String
  package var request: CommandRequest

  package init(accountID: Int64, key: String, request: CommandRequest) {
    self.accountID = accountID
    self.key = key
    self.request = request
  }
}

/// What the broker made of a command.
package struct CommandOutcome: Sendable, Hashable {
  /// Place in the order of execution.
  package var sequence: Int64
  package var result: CommandResult

  package init(sequence: Int64, result: CommandResult) {
    self.sequence = sequence
    self.result = result
  }

  package var isDone: Bool { result.id != nil }
  package var answer: String { result.text }
}

package enum CommandResult: Sendable, Hashable {
  /// What it made, ended or closed, by its number.
  case done(Thing, Int64)
  case refused(CommandRefusal)

  package enum Thing: String, Sendable {
    case posting, order, purchase, account
  }

  /// nil of a refusal.
  package var id: Int64? {
    if case .done(_, let id) = self { id } else { nil }
  }

  /// As the database and people have it: `order=17`; of a refusal its code and its sentence.
  var text: String {
    switch self {
    case .done(let thing, let id): "\(thing.rawValue)=\(id)"
    case .refused(let refusal): refusal.description
    }
  }

  /// nil for what is no text of a command that was done.
  init?(done text: String) {
    let words = text.split(separator: "=")
    guard words.count == 2, let thing = Thing(rawValue: String(words[0])), let id = Int64(words[1])
    else { return nil }
    self = .done(thing, id)
  }
}

/// Why a command is not executed: a code for programs and a sentence.
package struct CommandRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  package let code: String
  package let sentence: String

  package init(_ code: String, _ sentence: String) {
    self.code = code
    self.sentence = sentence
  }

  package init(_ refusal: LedgerRefusal) { self.init(refusal.code, "\(refusal)") }

  init(text: String) {
    let parts = text.split(separator: ":", maxSplits: 1)
    self.init(
      String(parts.first ?? "refused"),
      parts.count == 2 ? String(parts[1].drop { $0 == " " }) : text)
  }

  /// As an outcome has it, whose length is bounded.
  package var description: String {
    String("\(code): \(sentence)".prefix(Self.charactersMax))
  }

  private static let charactersMax = 250
}

/// What became of a request that was sent.
package enum SentCommand: Sendable, Hashable {
  /// The number of the command: that of the first one where the key was sent before.
  case command(id: Int64, outcome: CommandOutcome?)
  /// The key was used for another request.
  case conflict
}

/// Requests to the broker. Rows only come: a gateway inserts one and waits for its outcome. The
/// same key is the same command however often it is sent, and has one outcome.
package struct CommandTable: AppTable {
  package let connection: AppConnection
  static let context = "commands"

  /// As the schema's check has it.
  package static let keyBytesMax = 128
  package static let descriptionCharactersMax = 256

  package init(_ connection: AppConnection) { self.connection = connection }

  private static let columns = 4

  /// Another session's row of the same key is waited for, and not seen here: it is read afterwards.
  /// What is beyond a bound of its user's day is counted, and not inserted. An account that is not
  /// there has no user: its foreign key says so.
  private static let insert = Statement(
    name: "insert_commands",
    sql: """
      with sent as (
        select s.*, a.user_id
        from \(TextColumns.unnest(columns))
          with ordinality as s (account_id, key, kind, body, place)
        left join account a on a.id = s.account_id::bigint
        where not exists (
          select
          from command c
          where c.account_id = s.account_id::bigint
            and c.idempotency_key = s.key)
      ),
      counted as (
        insert into user_day as u (user_id, day, commands, payments, alerts)
        select
          user_id, \(DayLimits.today), count(*),
          count(*) filter (where kind in ('deposit', 'withdraw')), 0
        from sent
        where user_id is not null
        group by user_id
        order by user_id
        \(DayLimits.counting)
        returning user_id, commands, payments
      )
      insert into command (account_id, idempotency_key, fingerprint, kind, body)
      select s.account_id::bigint, s.key, sha256(convert_to(s.body, 'UTF8')), s.kind, s.body
      from sent s
      left join counted c on c.user_id = s.user_id
      where c.user_id is null
        or c.commands <= $5::bigint
        and (s.kind not in ('deposit', 'withdraw') or c.payments <= $6::bigint)
      order by s.place
      on conflict (account_id, idempotency_key) do nothing
      """)

  private static let readSent = Statement(
    name: "read_sent_commands",
    sql: """
      select
        c.id, c.fingerprint = sha256(convert_to(s.body, 'UTF8')), c.sequence, c.outcome, c.answer
      from \(TextColumns.unnest(columns))
        with ordinality as s (account_id, key, kind, body, place)
      join command c on c.account_id = s.account_id::bigint
        and c.idempotency_key = s.key
      order by s.place
      """)

  /// Sends requests, or finds those that were sent before under the same keys.
  /// - Returns: one for each, in order.
  /// - Throws: `unknownAccount`, `tooManyOfDay`, `invalid`, `store`.
  package func send(
    _ requests: [KeyedRequest], within limits: DayLimits = .standard
  ) throws(AppStoreError) -> [SentCommand] {
    var rows = TextColumns(Self.columns)
    for request in requests {
      try validate(request)
      let body = request.request.text
      rows.append(["\(request.accountID)", request.key, request.request.kind, body])
    }
    do throws(AppStoreError) {
      try write(
        Self.insert, with: rows.parameters + [.int64(limits.commands), .int64(limits.payments)])
    } catch {
      throw error.isViolation(of: "command_account_id_fkey") ? .unknownAccount : error
    }
    let sent: [SentCommand] = try read(Self.readSent, with: rows.parameters) {
      (row) throws(StoreError) in
      let id = try row.int64()
      let isSame = try row.bool()
      let outcome = try row.outcome()
      return isSame ? .command(id: id, outcome: outcome) : .conflict
    }
    if sent.count == requests.count { return sent }
    // A payment is the rarer of both.
    if requests.allSatisfy(\.request.isPayment), limits.payments < limits.commands {
      throw .tooManyOfDay("deposits and withdrawals", limit: limits.payments)
    }
    throw .tooManyOfDay("requests to the broker", limit: limits.commands)
  }

  private func validate(_ request: KeyedRequest) throws(AppStoreError) {
    guard (1...Self.keyBytesMax).contains(request.key.utf8.count), !request.key.utf8.contains(0)
    else {
      throw .invalid(field: "idempotency key", expected: "1 to \(Self.keyBytesMax) bytes")
    }
    switch request.request {
    case .deposit(_, _, let description), .withdraw(_, let description):
      guard description.unicodeScalars.count <= Self.descriptionCharactersMax,
        !description.utf8.contains(0)
      else {
        throw .invalid(
          field: "description", expected: "at most \(Self.descriptionCharactersMax) characters")
      }
    case .order, .cancel, .replace, .arm, .disarm, .close: break
    }
  }

  // MARK: Outcomes

  private static let readOutcomes = Statement(
    name: "read_outcomes",
    sql: """
      select id, sequence, outcome, answer
      from command
      where id = any ($1::bigint[])
        and outcome is not null
      """)

  /// Of those commands that have one.
  package func outcomes(of ids: [Int64]) throws(AppStoreError) -> [Int64: CommandOutcome] {
    let rows = try read(Self.readOutcomes, with: [.int64s(ids)]) { (row) throws(StoreError) in
      (try row.int64(), try row.outcome())
    }
    return Dictionary(uniqueKeysWithValues: rows).compactMapValues { $0 }
  }

  /// From now on outcomes are notified to this connection: `AppConnection.wait`.
  package func listenForOutcomes() throws(AppStoreError) {
    try connection.execute("listen candled_app_outcome", context: "listen")
  }
}

extension PostgresRow {
  /// `sequence`, `outcome`, `answer` of a command.
  mutating func outcome() throws(StoreError) -> CommandOutcome? {
    let (sequence, outcome, answer) = (
      try optionalInt64(), try optionalText(), try optionalText()
    )
    guard let sequence, let outcome, let answer else { return nil }
    let isDone = outcome == "done"
    let result =
      isDone ? CommandResult(done: answer) : .refused(CommandRefusal(text: answer))
    guard let result else { throw malformed() }
    return CommandOutcome(sequence: sequence, result: result)
  }
}
