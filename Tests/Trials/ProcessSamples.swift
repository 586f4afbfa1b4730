import Foundation

/// What a process takes of the machine, from time to time: of a soak.
struct ProcessSamples {
  struct Sample {
    /// Real, since the first.
    var second: Int
    var probe: ProcessProbe
    /// What it had done by then: "12 requests".
    var done: String

    var line: String {
      "\(second) s: \(probe.residentKibibytes / 1024) MiB (\(probe.ownKibibytes / 1024) its own), "
        + "\(probe.descriptors) descriptors, \(probe.threads) threads, \(done)"
    }
  }

  /// Real seconds after which it counts as warm.
  let warmSeconds: Int
  /// Per cent by which memory may have grown since.
  let growthPercentMax: Int
  /// Connections come and go with what is asked; more than these at the end are a leak.
  let descriptorsMoreMax: Int
  private(set) var samples: [Sample] = []
  private var sayAt = 0

  init(warmSeconds: Int, growthPercentMax: Int, descriptorsMoreMax: Int) {
    self.warmSeconds = warmSeconds
    self.growthPercentMax = growthPercentMax
    self.descriptorsMoreMax = descriptorsMoreMax
  }

  /// A short soak is sampled more often.
  private var period: Int { warmSeconds < 30 ? 1 : 5 }

  /// Takes one where it is due, and says it where half a minute has passed since the last.
  mutating func take(
    of process: pid_t, second: Int, done: @autoclosure () -> String, say: (String) -> Void
  ) {
    guard second >= (samples.last?.second ?? -period) + period, let probe = ProcessProbe(process)
    else { return }
    let sample = Sample(second: second, probe: probe, done: done())
    samples.append(sample)
    if second >= sayAt {
      sayAt = second + 30
      say(sample.line)
    }
  }

  /// - Returns: the warm and the last sample; nil, with a complaint, where there are too few.
  func judge(into verdict: inout ChaosVerdict) -> (warm: ProcessProbe, last: ProcessProbe)? {
    guard let warm = samples.first(where: { $0.second >= warmSeconds }), let last = samples.last,
      last.second > warm.second
    else {
      verdict.complaints.append("too few samples: \(samples.count)")
      return nil
    }
    verdict.figures += [
      "warm after \(warm.line)", "at the end \(last.line)",
      "\(samples.count) samples, \(mostMebibytes) MiB at most",
    ]
    let (before, after) = (warm.probe.residentKibibytes, last.probe.residentKibibytes)
    if after > before * (100 + growthPercentMax) / 100 {
      verdict.complaints.append("memory grew from \(before) to \(after) KiB")
    }
    if last.probe.descriptors > warm.probe.descriptors + descriptorsMoreMax {
      verdict.complaints.append("descriptors leak")
    }
    return (warm.probe, last.probe)
  }

  var mostMebibytes: Int { (samples.map(\.probe.residentKibibytes).max() ?? 0) / 1024 }
}
