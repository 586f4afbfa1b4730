/// What keeps a reader of the private cluster from stopping its writer. A lock table, a pool of
/// connections and a notification queue are shared by all sessions of a server; no limit of a role
/// covers the first, for PostgreSQL gives every role the functions that fill it.

import Postgres

extension EmbeddedServer {
  /// Sessions of `candled_reader` at a time. Of the 97 that PostgreSQL's default leaves for others
  /// than the superuser, the rest is for the daemon, commands and logins of their own.
  static let readerConnectionsMax = 80

  private static let ownerName = DatabaseRole.owner
  private static let appName = DatabaseRole.app
  /// Who may go on doing what readers may not.
  private static let trusted = "\(userName), \(ownerName)"

  /// Before the schema names them: what is granted below is granted to them. The folder is the door
  /// of this cluster, so its reader may log in by that name. A role may alter its own settings, so
  /// the time-outs are set again at every start.
  static let makeRoles = """
    do $$
    declare
      name text;
    begin
      foreach name in array array['\(ownerName)', '\(userName)', '\(readerName)', '\(appName)'] loop
        if not exists (select from pg_roles where rolname = name) then
          execute format('create role %I login', name);
        end if;
      end loop;
      if exists (select from pg_roles where rolname = '\(readerName)' and rolconnlimit = -1) then
        alter role \(readerName) connection limit \(readerConnectionsMax);
      end if;
      alter role \(readerName) set idle_in_transaction_session_timeout = '60s';
      alter role \(readerName) set statement_timeout = '5min';
    end
    $$
    """

  private static let fillsLocks = """
    p.pronamespace = 'pg_catalog'::regnamespace
    and (
      p.proname ~ '^pg_(try_)?advisory_(xact_)?lock(_shared)?$'
      or p.proname in (
        'txid_current', 'pg_current_xact_id', 'pg_logical_emit_message',
        'lo_creat', 'lo_create', 'lo_from_bytea'))
    """

  /// Moves the right to call what fills the lock table.
  private static func moveRight(from: String, to: String, where condition: String) -> String {
    """
    for entry in
      select p.oid
      from pg_proc p
      where \(fillsLocks) and (\(condition))
    loop
      execute format('revoke execute on function %s from \(from)', entry);
      execute format('grant execute on function %s to \(to)', entry);
    end loop;
    """
  }

  /// As before `protectLocks`, in the database it is run in: pg_upgrade gives the rights of a
  /// function to one with the same arguments, which another version need not have. The next start
  /// protects them again.
  static let unprotectLocks = """
    do $$
    declare
      entry regprocedure;
    begin
      \(moveRight(from: trusted, to: "public", where: "p.proacl is not null"))
    end
    $$
    """

  /// In the database it is run in: who may call these fills the lock table within a second, and
  /// then no session gets a lock any more (SQLSTATE 53200). An advisory lock is one entry; so is
  /// each temporary table, each subtransaction that has a number, and each large object that is
  /// removed. To unlock stays allowed: pools of drivers do it whenever a connection is given back.
  /// Writes only what is not so yet.
  static let protectLocks = """
    do $$
    declare
      entry regprocedure;
    begin
      \(moveRight(
        from: "public", to: trusted,
        where: """
          has_function_privilege('public', p.oid, 'execute')
          or not has_function_privilege('\(userName)', p.oid, 'execute')
          """))
      if has_database_privilege('public', current_database(), 'temporary')
        or not has_database_privilege('\(userName)', current_database(), 'temporary')
      then
        execute format('revoke temporary on database %I from public', current_database());
        execute format('grant temporary on database %I to \(trusted)', current_database());
      end if;
    end
    $$
    """
}
