/// The section `mairui` of the configuration.

import Market

enum MairuiSettings {
  static let bases = Setting.origins(
    "mairui.bases",
    default: ["https://a.mairuiapi.com", "https://api.mairuiapi.com", "https://api.mairui.club"],
    help: "Hosts for lists, tried in this order.")
  static let licenceFile = Setting.optionalString(
    "mairui.licence_file", unset: "lists come from another source, if universe.follow",
    help: "File with licences, one per line; or credential:NAME (renewed by a restart)."
  ).live
  static let requestsPerDay = Setting.integer(
    "mairui.requests_per_day", default: 50, in: 1...1_000_000,
    help: "Quota of each licence per Shanghai day."
  ).live

  static let licenceEnds = Setting.day(
    "mairui.licence_ends", unset: "not watched",
    help: "Last day of the licence that ends first: the status and alerts name it in time."
  ).live

  static let section = SettingSection("mairui", bases, licenceFile, requestsPerDay, licenceEnds)
}
