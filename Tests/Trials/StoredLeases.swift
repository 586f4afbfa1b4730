import Commits
import Postgres
import Store
import TestSupport

/// Who led and who wrote, read with plain SQL.
struct StoredLeases {
  let url: String

  private func number(_ query: String) throws -> Int {
    var fields = StoredFields(try SQLProbe.run(query, url: url)[0])
    return Int(try fields.number())
  }

  func now() throws -> (term: Int, holder: String) {
    var fields = StoredFields(
      try SQLProbe.run("select term, holder from candled.lease", url: url)[0])
    return (Int(try fields.number()), try fields.text())
  }

  func isFree() throws -> Bool {
    try number("select count(*) from candled.lease where expires_at <= clock_timestamp()") == 1
  }

  func terms() throws -> Int { try number("select count(*) from candled.lease_term") }

  func commits(of term: Int) throws -> Int {
    try number("select count(*) from candled.change where term = \(term)")
  }

  /// How many daemons are connected to ask for the lease.
  func askers() throws -> Int {
    try number(
      """
      select count(*) from pg_stat_activity
      where datname = current_database() and application_name = 'candled lease'
      """)
  }

  /// The positions of a journal whose entries were committed, term by term: behind where a term
  /// went on, up to where the next one found it.
  func committedParts(of journal: String) throws -> [ClosedRange<Int64>] {
    try SQLProbe.run(
      """
      with begun as (
        select holder, position, lead(from_position) over (order by term) as next
        from candled.lease_term where from_journal is not null)
      select position + 1, coalesce(next, (select position from candled.journal_position))
      from begun where holder = '\(journal)'
      """, url: url
    ).compactMap { row in
      var fields = StoredFields(row)
      let (first, last) = (try fields.number(), try fields.number())
      return first <= last ? first...last : nil
    }
  }

  /// At most one writer ever: along the feed terms never go back, each is of one holder, and each
  /// commit's position is of its own term's part of that holder's journal.
  func complaints() throws -> [String] {
    let checks = [
      (
        "commits without a term",
        "select count(*) from candled.change where term is null"
      ),
      (
        "commits of a term behind a later one",
        """
        select count(*) from (
          select term, max(term) over (order by seq) as highest from candled.change) c
        where term < highest
        """
      ),
      (
        "commits of a term nobody held",
        """
        select count(*) from candled.change c
        where (select count(*) from candled.lease_term t where t.term = c.term) <> 1
        """
      ),
      (
        "commits outside their term's part of the journal",
        """
        with begun as (
          select term, position, lead(from_position) over (order by term) as next
          from candled.lease_term where from_journal is not null)
        select count(*) from candled.change c left join begun b using (term)
        where b.term is null or c.position <= b.position or c.position > b.next
        """
      ),
      (
        "terms that went on from a journal that was not the last one's",
        """
        with begun as (
          select from_journal, lag(holder) over (order by term) as before
          from candled.lease_term where from_journal is not null)
        select count(*) from begun where from_journal <> before
        """
      ),
    ]
    return try checks.compactMap { sentence, query in
      let count = try number(query)
      return count == 0 ? nil : "\(sentence): \(count)"
    }
  }
}
