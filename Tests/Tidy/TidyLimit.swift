/// The limits of the house style that the tree as a whole is held to, and how near it is.
///
/// `today` is asserted: a number may fall and never rise. Who brings one down lowers it here, until
/// it is the target.
struct TidyLimit: Sendable, CustomStringConvertible {
  let name: String
  let target: Int
  let today: Int
  let value: @Sendable (Measurement) -> Int

  init(
    _ name: String, target: Int, today: Int? = nil,
    value: @escaping @Sendable (Measurement) -> Int
  ) {
    self.name = name
    self.target = target
    self.today = today ?? target
    self.value = value
  }

  var description: String { name }

  /// In tenths of a percent.
  static let unlabelledPermilleMax = 50
  static let propertiesMax = 15
  static let aspectFilesMax = 6

  static let all = [
    TidyLimit("lines of a function, median", target: 8) { $0.functionLines.percentile(50) },
    TidyLimit("lines of a function, most", target: 70) { $0.functionLines.last ?? 0 },
    TidyLimit("lines of a file, median", target: 140) { $0.fileLines.percentile(50) },
    TidyLimit("lines of a file, most", target: 400) { $0.fileLines.last ?? 0 },
    TidyLimit("parameters without a label, ‰", target: unlabelledPermilleMax) {
      $0.allLabels.permille
    },
    TidyLimit("modules above that", target: 0, today: 2) { measured in
      measured.labels.values.count { $0.permille > unlabelledPermilleMax }
    },
    TidyLimit("parameters without a label in Store", target: 0) {
      $0.labels["Store"]?.unlabelled ?? 0
    },
    TidyLimit("lines with a vendor's name outside its folder", target: 0) {
      $0.vendorLines.total
    },
    TidyLimit("stored properties of a type, most", target: propertiesMax) {
      $0.properties.first?.count ?? 0
    },
    TidyLimit("types with more than 15", target: 0) { measured in
      measured.properties.count { $0.count > propertiesMax }
    },
    TidyLimit("Type+Aspect files of a type, most", target: aspectFilesMax) {
      $0.aspectFiles.first?.count ?? 0
    },
    TidyLimit("types with more than 6", target: 0) { measured in
      measured.aspectFiles.count { $0.count > aspectFilesMax }
    },
    TidyLimit("public outside the client's surface", target: 0) { $0.publics.total },
    TidyLimit("words of README", target: 1_200) { $0.readmeWords },
    TidyLimit("lines of Sources", target: 45_000, today: 95_210) { $0.sourceLines },
    TidyLimit("lines of schema.sql", target: 3_260, today: 5_130) { $0.schemaLines },
  ]
}
