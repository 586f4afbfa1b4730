/// The kinds of setting there are: what each accepts, and what it says when it does not. Those that
/// may be unset take an empty string for it, so that an override can undo a file.

import Market

extension Setting {
  init(
    _ key: String, kind: String, default defaultValue: Value, range: String = "",
    isSecret: Bool = false, example: [String]? = nil, help: String,
    print: @escaping @Sendable (Value) -> String?,
    read: @escaping @Sendable (SettingInput) throws -> Value
  ) {
    self.key = key
    self.kind = kind
    self.defaultValue = defaultValue
    self.range = range
    self.isSecret = isSecret
    exampleLines = example
    self.help = help
    self.print = print
    self.read = read
  }
}

extension Setting where Value == String {
  static func string(_ key: String, default defaultValue: String, help: String) -> Self {
    Setting(key, kind: "string", default: defaultValue, help: help, print: \.quoted) { input in
      guard case .string(let text) = input, !text.isEmpty else {
        throw SettingMismatch(expected: "a string that is not empty")
      }
      return text
    }
  }

  /// Where an upstream answers: scheme and host, without a path.
  static func origin(_ key: String, default defaultValue: String, help: String) -> Self {
    Setting(
      key, kind: "origin", default: defaultValue, range: "http(s)://host[:port]", help: help,
      print: \.quoted
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
  static func origins(_ key: String, default defaultValue: [String], help: String) -> Self {
    Setting(
      key, kind: "list", default: defaultValue, range: "http(s)://host[:port]", help: help,
      print: { "[" + $0.map(\.quoted).joined(separator: ", ") + "]" },
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
  static func optionalString(_ key: String, unset: String, help: String) -> Self {
    Setting(
      key, kind: "string", default: nil, range: "unset: \(unset)", help: help,
      print: { $0.map(\.quoted) },
      read: { input in
        guard case .string(let text) = input else { throw SettingMismatch(expected: "a string") }
        return text.isEmpty ? nil : text
      })
  }
}

extension Setting where Value == ListenAddress? {
  /// Where to listen; an empty string is nowhere, unless it is required.
  static func listenAddress(
    _ key: String, default defaultValue: ListenAddress, isRequired: Bool = false, help: String
  ) -> Self {
    Setting(
      key, kind: "address", default: defaultValue,
      range: isRequired ? "address:port or /path" : "address:port, /path or empty for none",
      help: help,
      print: { ($0?.description ?? "").quoted },
      read: { input in
        if case .string("") = input, !isRequired { return nil }
        guard case .string(let text) = input, let address = ListenAddress(text) else {
          throw SettingMismatch(
            expected: "a numeric address and port such as \"\(defaultValue)\", or a path")
        }
        return address
      })
  }
}

extension Setting where Value == Secret? {
  /// May hold a password, and is treated as one whole secret.
  static func connectionURL(_ key: String, unset: String, help: String) -> Self {
    Setting(
      key, kind: "URL", default: nil, range: "unset: \(unset)", isSecret: true, help: help,
      print: { $0.map { _ in SecretMask.replacement.quoted } },
      read: { input in
        if case .string("") = input { return nil }
        guard case .string(let text) = input,
          ["postgres://", "postgresql://"].contains(where: text.hasPrefix)
        else { throw SettingMismatch(expected: "a URL that begins with postgres://") }
        if ConnectionURL(text)?.isAmbiguous == true {
          throw SettingMismatch(
            expected: "a URL with one @ at most, before the host (in a user or password write / as "
              + "%2F and @ as %40)")
        }
        return Secret(text)
      })
  }
}

extension Setting where Value == Int {
  static func integer(
    _ key: String, default defaultValue: Int, in range: ClosedRange<Int>, help: String
  ) -> Self {
    let bounds = "\(range.lowerBound)…\(range.upperBound)"
    return Setting(
      key, kind: "integer", default: defaultValue, range: bounds, help: help,
      print: { "\($0)" },
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
  static func decimal(
    _ key: String, default defaultValue: ExactDecimal, places: UInt8, max: ExactDecimal,
    help: String
  ) -> Self {
    let bounds = "0…\(max), \(places) decimal places at most"
    return Setting(
      key, kind: "decimal", default: defaultValue, range: bounds, help: help,
      print: { $0.description.quoted },
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
  static func boolean(_ key: String, default defaultValue: Bool, help: String) -> Self {
    Setting(
      key, kind: "boolean", default: defaultValue, help: help,
      print: { "\($0)" },
      read: { input in
        guard case .boolean(let value) = input else {
          throw SettingMismatch(expected: "true or false")
        }
        return value
      })
  }
}

extension Setting where Value == Duration {
  static func duration(
    _ key: String, default defaultValue: Duration, in range: ClosedRange<Duration>, help: String
  ) -> Self {
    let bounds = "\(DurationText.print(range.lowerBound))…\(DurationText.print(range.upperBound))"
    return Setting(
      key, kind: "duration", default: defaultValue, range: bounds, help: help,
      print: { DurationText.print($0).quoted },
      read: { input in
        guard case .string(let text) = input, let value = DurationText.parse(text),
          range.contains(value)
        else {
          let sample = DurationText.print(defaultValue)
          throw SettingMismatch(
            expected: "a duration such as \"\(sample)\" (units ms, s, m, h, d) in \(bounds)")
        }
        return value
      })
  }
}

extension Setting where Value == Int64 {
  static func bytes(
    _ key: String, default defaultValue: Int64, in range: ClosedRange<Int64>, help: String
  ) -> Self {
    let bounds = "\(ByteCountText.print(range.lowerBound))…\(ByteCountText.print(range.upperBound))"
    return Setting(
      key, kind: "bytes", default: defaultValue, range: bounds, help: help,
      print: { ByteCountText.print($0).quoted },
      read: { input in
        guard case .string(let text) = input, let value = ByteCountText.parse(text),
          range.contains(value)
        else {
          let sample = ByteCountText.print(defaultValue)
          throw SettingMismatch(
            expected: "a size such as \"\(sample)\" (units B, KiB, MiB, GiB, TiB) in \(bounds)")
        }
        return value
      })
  }
}

extension Setting where Value == [String] {
  /// Names, which the module that knows them judges.
  static func names(_ key: String, unset: String, help: String) -> Self {
    Setting(
      key, kind: "list", default: [], range: "names, each once; empty: \(unset)", help: help,
      print: { "[" + $0.map(\.quoted).joined(separator: ", ") + "]" },
      read: { input in
        guard case .strings(let names) = input, Set(names).count == names.count else {
          throw SettingMismatch(expected: "a list of names, each once")
        }
        return names
      })
  }
}

extension Setting where Value == [String] {
  /// Names by which a server is called, without ports.
  static func hostNames(_ key: String, unset: String, help: String) -> Self {
    Setting(
      key, kind: "list", default: [], range: "host names, each once; empty: \(unset)", help: help,
      print: { "[" + $0.map(\.quoted).joined(separator: ", ") + "]" },
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
  static func symbols(
    _ key: String, example: [String]? = nil, help: String
  ) -> Self {
    Setting(
      key, kind: "list", default: [], range: "symbols, each once", example: example, help: help,
      print: { symbols in
        symbols.isEmpty
          ? "[]" : "[" + symbols.map(\.description.quoted).joined(separator: ", ") + "]"
      },
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

extension Setting where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  static func choice(_ key: String, default defaultValue: Value, help: String) -> Self {
    choice(
      key, default: defaultValue, of: Value.allCases.map(\.rawValue), help: help,
      name: \.rawValue, value: { Value(rawValue: $0) })
  }
}

extension Setting where Value == String {
  static func choice(
    _ key: String, default defaultValue: String, of names: [String], help: String
  ) -> Self {
    choice(key, default: defaultValue, of: names, help: help, name: { $0 }, value: { $0 })
  }
}

extension Setting {
  fileprivate static func choice(
    _ key: String, default defaultValue: Value, of names: [String], help: String,
    name: @escaping @Sendable (Value) -> String, value: @escaping @Sendable (String) -> Value?
  ) -> Self {
    Setting(
      key, kind: "choice", default: defaultValue, range: names.joined(separator: ", "), help: help,
      print: { name($0).quoted },
      read: { input in
        guard case .string(let text) = input, names.contains(text), let value = value(text) else {
          throw SettingMismatch(expected: "one of \(names.joined(separator: ", "))")
        }
        return value
      })
  }
}

extension Setting where Value == Timestamp? {
  static func moment(_ key: String, unset: String, help: String) -> Self {
    Setting(
      key, kind: "moment", default: nil, range: "unset: \(unset)", help: help,
      print: { $0.map { $0.description.quoted } },
      read: { input in
        if case .string("") = input { return nil }
        guard case .string(let text) = input, let moment = Timestamp(rfc3339: text) else {
          throw SettingMismatch(
            expected: "a moment with its offset such as \"2026-07-06T09:00:00+08:00\"")
        }
        return moment
      })
  }
}
