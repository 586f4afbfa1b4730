/// `candled-bench [SECTION …]`: what candled costs, measured here and now.
///
/// Absolute times drift from machine to machine and hour to hour, so every section measures both
/// sides (ours and the floor or the peer) in one run and prints the ratio. A section is one file
/// and one line in `sections`.

import Glibc

@main
struct Bench {
  static let sections: [BenchSection] = [
    decodeSection, commitSection,
  ]

  static func main() {
    let wanted = CommandLine.arguments.dropFirst()
    let names = sections.map(\.name)
    if let unknown = wanted.first(where: { !names.contains($0) }) {
      say("no section `\(unknown)`; there are: \(names.joined(separator: ", "))")
      exit(64)
    }
    for section in sections where wanted.isEmpty || wanted.contains(section.name) {
      say("\(section.name): \(section.title)")
      section.run()
      say("")
    }
  }
}
