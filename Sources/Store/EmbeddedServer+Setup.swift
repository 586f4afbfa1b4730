import Glibc

/// What makes a directory a cluster: ownership, initdb, settings, roles and database. Every step
/// is safe to repeat, because any of them can be the one a crash interrupts.
extension EmbeddedServer {
  func prepareDirectories() throws(StoreError) {
    try makeDirectory(directory, mode: 0o755, ownedByServer: false)
    if let obstacle = user.obstacle(onWayTo: directory) {
      throw StoreError(
        .serverFailed,
        "the server runs as user `\(user.name)`, which may not enter \(obstacle):"
          + " `chmod o+x \(obstacle)`, or choose another state directory",
        context: "embedded server")
    }
    try makeDirectory(socketDirectory, mode: 0o700, ownedByServer: true)
    if access(logPath, F_OK) != 0, !writeFile(logPath, "") { throw fileError(logPath) }
    if chown(logPath, user.user, user.group) != 0 || chmod(logPath, 0o640) != 0 {
      throw fileError(logPath)
    }
  }

  /// In /tmp anyone may have made the directory first: one that is not ours is refused.
  private func makeDirectory(
    _ path: String, mode: mode_t, ownedByServer: Bool
  ) throws(StoreError) {
    let isNew = mkdir(path, mode) == 0
    if !isNew, errno != EEXIST { throw fileError(path) }
    if isNew {
      if chmod(path, mode) != 0 { throw fileError(path) }
      if ownedByServer, chown(path, user.user, user.group) != 0 { throw fileError(path) }
    }
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
      !ownedByServer || status.st_uid == user.user
    else {
      throw StoreError(
        .serverFailed, "\(path) is not a directory of the server's user", context: "embedded server"
      )
    }
  }

  private func fileError(_ path: String) -> StoreError {
    StoreError(
      .serverFailed, "cannot make \(path): \(String(cString: strerror(errno)))",
      context: "embedded server")
  }

  /// Into a directory of another name first: an interrupted initdb leaves nothing that looks whole.
  func initialise() throws(StoreError) {
    let fresh = "\(directory)/data.new"
    _ = try Subprocess.run(["/bin/rm", "-rf", fresh])
    try makeDirectory(fresh, mode: 0o700, ownedByServer: true)
    let command =
      user.prefix + [
        binaries.program("initdb"), "-D", fresh, "-U", "postgres", "-A", "trust", "-E", "UTF8",
        "--no-locale", "--no-instructions",
      ] + (isDurable ? [] : ["--no-sync"])
    if try Subprocess.run(command, output: logPath) != 0 { throw failure("could not be set up") }
    let main = "\(fresh)/postgresql.conf"
    guard let text = readFile(main),
      writeFile(main, text + "\ninclude_if_exists 'candled.conf'\n")
    else { throw fileError(main) }
    if rename(fresh, dataDirectory) != 0 { throw fileError(dataDirectory) }
  }

  /// Rewritten at every start, so that an existing cluster follows a newer candled.
  func writeSettings() throws(StoreError) {
    let path = "\(dataDirectory)/candled.conf"
    let socket = socketDirectory.reduce(into: "") { $0 += $1 == "'" ? "''" : String($1) }
    let text = """
      # Written by candled at every start; your own settings belong into postgresql.conf, below
      # the line that includes this file.
      listen_addresses = ''
      port = 5432
      unix_socket_directories = '\(socket)'
      shared_buffers = 128MB
      jit = off
      # The first sweep after a checkpoint writes 20 MB of full pages: few checkpoints, compressed.
      checkpoint_timeout = 30min
      max_wal_size = 2GB
      wal_compression = \(try walCompression())
      synchronous_commit = \(isDurable ? "on" : "off")
      fsync = \(isDurable ? "on" : "off")
      full_page_writes = \(isDurable ? "on" : "off")
      timezone = 'Asia/Shanghai'
      log_timezone = 'Asia/Shanghai'
      log_checkpoints = off
      log_min_error_statement = panic

      """
    guard writeFile(path, text), chown(path, user.user, user.group) == 0,
      chmod(path, 0o640) == 0
    else { throw fileError(path) }
  }

  /// lz4 where this server was built with it; the server itself is asked.
  private func walCompression() throws(StoreError) -> String {
    let command =
      user.prefix + [
        binaries.program("postgres"), "-D", dataDirectory, "-c", "wal_compression=lz4", "-C",
        "wal_compression",
      ]
    return try Subprocess.run(command) == 0 ? "lz4" : "on"
  }

  func prepareDatabase() throws(StoreError) {
    do {
      let connection = try PostgresConnection(
        url: url(role: "postgres", database: "postgres"), application: "candled setup")
      let found = try connection.execute(
        "select from pg_database where datname = '\(Self.database)'", context: "embedded server")
      if found.rowCount == 0 {
        try connection.execute("create database \(Self.database)", context: "embedded server")
      }
    }
    let owner = url(role: "postgres")
    let connection = try PostgresConnection(url: owner, application: "candled setup")
    do throws(StoreError) {
      try Schema.requireVersion(connection)
    } catch  where error.code == .schemaMismatch {
      try Schema.apply(url: owner)
    }
  }
}
