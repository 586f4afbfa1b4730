/// The keys that the demo's exchange accepts.

package enum DemoAccounts {
  /// As a credential file has them, by the source's name.
  package static let keys = ["mairui": "demo-licence", "alpaca": "demo-key demo-secret"]

  package static let mairui = MairuiOptions(licences: ["demo-licence": .valid(requestsPerDay: 50)])
  package static let alpaca = AlpacaOptions(keys: ["demo-key": "demo-secret"])
}
