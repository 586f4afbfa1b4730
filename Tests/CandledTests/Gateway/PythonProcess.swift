/// Scripts in Debian's Python, or another.

enum PythonProcess {
  static let interpreter = "/usr/bin/python3"

  /// - Parameter folder: where it runs, with the package in its `src`.
  static func start(
    _ arguments: [String], in folder: String, interpreter: String = interpreter
  ) throws -> RunningBinary {
    try RunningBinary(
      ["-C", folder, interpreter] + arguments,
      environment: ["PYTHONPATH=src", "PYTHONDONTWRITEBYTECODE=1", "HOME=/tmp"],
      program: "/usr/bin/env")
  }

  /// Opens a stream; prints `open`, and with which code it was closed.
  static func closeCode(of gateway: RunningGateway) throws -> RunningBinary {
    try start(
      [
        "-uc",
        """
        import asyncio, sys, websockets

        async def main():
            async with websockets.connect(sys.argv[1]) as socket:
                print(await socket.recv(), "open")
                try:
                    while True:
                        await socket.recv()
                except websockets.ConnectionClosed as error:
                    print("closed", error.rcvd.code if error.rcvd else "without a code")

        asyncio.run(main())
        """,
        gateway.socketURL + "/ws",
      ], in: "/")
  }
}

extension RunningBinary {
  /// What it printed, without a line that is not complete yet.
  var wholeLines: String {
    captured.lastIndex(of: "\n").map { String(captured[...$0]) } ?? ""
  }
}
