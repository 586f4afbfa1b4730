import DaemonCommands

/// Where the process starts.
@main
enum Program {
  static func main() { DaemonProgram.run(CandledDemo.self) }
}
