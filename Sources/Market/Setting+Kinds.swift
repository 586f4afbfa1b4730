/// The kinds of setting there are: what each accepts, and what it says when it does not. Those that
/// may be unset take an empty string for it, so that an override can undo a file. A kind whose type
/// is declared in another module stands there.

extension Setting where Value == String {
  package static func string(_ key: String, default defaultValue: String, help: String) -> Self {
    Setting(key, kind: "string", default: defaultValue, help: help, write: \.quoted) { input in
      guard case .string(let text) = input, !text.isEmpty else {
        throw SettingMismatch(expected: "a string that is not empty")
      }
      return text
    }
  }

  /// Where an upstream answers: scheme and host, without a path.
  package static func origin(_ key: String, default defaultValue: String, help: String) -> Self {
    Setting(
      key, kind: "origin", default: defaultValue, range: "http(s)://host[:port]", help: help,
      write: \.quoted
    ) {
      input in
      guard case .string(let text) = input, isOrigin(text) else {
        throw SettingMismatch(expected: "an origin such as \"\(defaultValue)\", without a path")
      }
      return text
    }
  }

  fileprivate static func isOrigin(_ text: String) -> Bool {
    guard let scheme = ["http://", "https://"].first(where: text.hasPrefix) else { return false }
    let host = text.dropFirst(scheme.count)
    return !host.isEmpty
      && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/?#@\"\\".utf8.contains($0) }
  }
}

extension Setting where Value == [String] {
  /// Schemes and hosts; of an upstream's the first that answers. None are accepted where none are
  /// the default.
  package static func origins(_ key: String, default defaultValue: [String], help: String) -> Self {
    Setting(
      key, kind: "list", default: defaultValue, range: "http(s)://host[:port]", help: help,
      write: \.quotedList,
      read: { input in
        guard case .strings(let texts) = input, defaultValue.isEmpty || !texts.isEmpty,
          texts.allSatisfy({ Setting<String>.isOrigin($0) })
        else {
          let sample = defaultValue.first ?? "https://example.com"
          throw SettingMismatch(
            expected: "a list of origins such as [\"\(sample)\"], without paths")
        }
        return texts
      })
  }
}

extension Setting where Value == String? {
  package static func optionalString(_ key: String, unset: String, help: String) -> Self {
    Setting(
      key, kind: "string", default: nil, range: "unset: \(unset)", help: help,
      write: { $0.map(\.quoted) },
      read: { input in
        guard case .string(let text) = input else { throw SettingMismatch(expected: "a string") }
        return text.isEmpty ? nil : text
      })
  }
}

extension Setting where Value == Int {
  package static func integer(
    _ key: String, default defaultValue: Int, in range: ClosedRange<Int>, help: String
  ) -> Self {
    let bounds = "\(range.lowerBound)…\(range.upperBound)"
    return Setting(
      key, kind: "integer", default: defaultValue, range: bounds, help: help,
      write: { "\($0)" },
      read: { input in
        guard case .integer(let number) = input, let value = Int(exactly: number),
          range.contains(value)
        else { throw SettingMismatch(expected: "an integer in \(bounds)") }
        return value
      })
  }
}

extension Setting where Value == ExactDecimal {
  /// A decimal from 0 on, in quotes: a bare fraction is read as a binary one.
  package static func decimal(
    _ key: String, default defaultValue: ExactDecimal, places: UInt8, max: ExactDecimal,
    help: String
  ) -> Self {
    let bounds = "0…\(max), \(places) decimal places at most"
    return Setting(
      key, kind: "decimal", default: defaultValue, range: bounds, help: help,
      write: { $0.description.quoted },
      read: { input in
        guard case .string(let text) = input, let value = try? ExactDecimal(text),
          !value.isNegative, value <= max, value.normalized.scale <= places
        else {
          throw SettingMismatch(
            expected: "a decimal such as \"\(defaultValue)\", in quotes, in \(bounds)")
        }
        return value
      })
  }
}

extension Setting where Value == Bool {
  package static func boolean(_ key: String, default defaultValue: Bool, help: String) -> Self {
    Setting(
      key, kind: "boolean", default: defaultValue, help: help,
      write: { "\($0)" },
      read: { input in
        guard case .boolean(let value) = input else {
          throw SettingMismatch(expected: "true or false")
        }
        return value
      })
  }
}

extension Setting where Value == Duration {
  package static func duration(
    _ key: String, default defaultValue: Duration, in range: ClosedRange<Duration>, help: String
  ) -> Self {
    quantity(
      key, kind: "duration", noun: "a duration", default: defaultValue,
      in: range.lowerBound.wholeMilliseconds...range.upperBound.wholeMilliseconds,
      units: .duration, help: help, number: \.wholeMilliseconds,
      value: { Duration.milliseconds($0) })
  }
}

extension Setting where Value == Int64 {
  package static func bytes(
    _ key: String, default defaultValue: Int64, in range: ClosedRange<Int64>, help: String
  ) -> Self {
    quantity(
      key, kind: "bytes", noun: "a size", default: defaultValue, in: range, units: .bytes,
      help: help, number: { $0 }, value: { $0 })
  }
}

extension Setting {
  /// - Parameter range: of the numbers, in the smallest unit.
  fileprivate static func quantity(
    _ key: String, kind: String, noun: String, default defaultValue: Value,
    in range: ClosedRange<Int64>, units: SettingUnits, help: String,
    number: @escaping @Sendable (Value) -> Int64, value: @escaping @Sendable (Int64) -> Value
  ) -> Self {
    let bounds = "\(units.text(range.lowerBound))…\(units.text(range.upperBound))"
    let sample = units.text(number(defaultValue)).quoted
    return Setting(
      key, kind: kind, default: defaultValue, range: bounds, help: help,
      write: { units.text(number($0)).quoted },
      read: { input in
        guard case .string(let text) = input, let count = units.parse(text), range.contains(count)
        else {
          throw SettingMismatch(
            expected: "\(noun) such as \(sample) (units \(units.names)) in \(bounds)")
        }
        return value(count)
      })
  }
}

extension Setting where Value == [String] {
  /// Names, which the module that knows them judges.
  package static func names(_ key: String, unset: String, help: String) -> Self {
    Setting(
      key, kind: "list", default: [], range: "names, each once; empty: \(unset)", help: help,
      write: \.quotedList,
      read: { input in
        guard case .strings(let names) = input, Set(names).count == names.count else {
          throw SettingMismatch(expected: "a list of names, each once")
        }
        return names
      })
  }

  /// Names by which a server is called, without ports.
  package static func hostNames(_ key: String, unset: String, help: String) -> Self {
    Setting(
      key, kind: "list", default: [], range: "host names, each once; empty: \(unset)", help: help,
      write: \.quotedList,
      read: { input in
        guard case .strings(let names) = input, Set(names).count == names.count,
          names.allSatisfy(isHostName)
        else {
          throw SettingMismatch(
            expected: "host names such as [\"candled.example.com\"], without ports, each once")
        }
        return names
      })
  }

  private static func isHostName(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
          || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
      }
  }
}

extension Setting where Value == [Symbol] {
  package static func symbols(
    _ key: String, example: [String]? = nil, help: String
  ) -> Self {
    Setting(
      key, kind: "list", default: [], range: "symbols, each once", example: example, help: help,
      write: { $0.map(\.description).quotedList },
      read: { input in
        guard case .strings(let names) = input else {
          throw SettingMismatch(expected: "a list of symbols such as [\"sh600519\"]")
        }
        var known: Set<Symbol> = []
        var symbols: [Symbol] = []
        for name in names {
          guard let symbol = Symbol(name) else {
            throw SettingMismatch(
              expected: "symbols such as \"sh600519\"", found: name.quoted)
          }
          guard known.insert(symbol).inserted else {
            throw SettingMismatch(expected: "each symbol once", found: "\"\(symbol)\" twice")
          }
          symbols.append(symbol)
        }
        return symbols
      })
  }
}

extension Setting where Value == TradingDay? {
  package static func day(_ key: String, unset: String, help: String) -> Self {
    Setting(
      key, kind: "day", default: nil, range: "unset: \(unset)", help: help,
      write: { $0.map { "\($0)".quoted } },
      read: { input in
        if case .string("") = input { return nil }
        guard case .string(let text) = input, let day = TradingDay(text) else {
          throw SettingMismatch(expected: "a day such as \"2026-07-06\"")
        }
        return day
      })
  }
}

extension Setting where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  package static func choice(_ key: String, default defaultValue: Value, help: String) -> Self {
    let names = Value.allCases.map(\.rawValue).joined(separator: ", ")
    return Setting(
      key, kind: "choice", default: defaultValue, range: names, help: help,
      write: { $0.rawValue.quoted },
      read: { input in
        guard case .string(let text) = input, let value = Value(rawValue: text) else {
          throw SettingMismatch(expected: "one of \(names)")
        }
        return value
      })
  }
}
