/// `candled-gateway verify`: whether the ledger of paper trading follows from what it says.

import AppStore
import ArgumentParser
import Broker
import Commands
import Market
import Operations

struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Derive all paper accounts again, and compare.",
    discussion: Help.discussion(
      """
      Deposits are derived from their commands, fills from the evidence that each carries, \
      dividends and bonuses from what was held, fees and balances from all of these. Prints one \
      line per difference and exits 65 if there is one. It reads everything that was ever booked, \
      and changes nothing.
      """,
      examples: ["candled-gateway verify && echo sound": "in a script"]))

  @OptionGroup var options: ConfigurationOptions

  /// Of one account's whole history.
  private static let statementSecondsMax = 600

  func run() throws {
    let settings = try options.load()
    RuleBook.use(operators: try settings.operatorsRules())
    let address = try settings.gatewayAddress()
    let connection = try AppConnection(
      url: address, application: "candled-gateway verify",
      statementSeconds: Self.statementSecondsMax)
    let differences = try LedgerReplay(connection).differences()
    try StandardOutput.write(lines: differences)
    if !differences.isEmpty { throw CommandFailure.silent(.dataError) }
  }
}
