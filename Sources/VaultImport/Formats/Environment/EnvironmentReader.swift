internal import VaultBytes
internal import VaultWire

/// The reader of `.env` files as python-dotenv reads them.
enum EnvironmentReader: CredentialFile {
  static let format = FileFormat.env
  static let detail = "variables of .env, as python-dotenv reads them"

  static func isNamed(_ file: Source.File) -> Bool {
    file.isNamed(".env") || file.name.hasPrefix(".env.") || file.name.hasSuffix(".env")
  }

  static func isAlike(_ file: Source.File) -> Bool {
    let start = Source.File(file.path, Array(file.firstLines.rest))
    guard let text = try? EnvironmentDialect.dotenv.variables(start) else { return false }
    return !text.variables.isEmpty && text.refused.isEmpty
      && text.variables.allSatisfy { $0.value != nil && $0.name.utf8.allSatisfy(ScriptDotenvParser.isOfName) }
  }

  static func read(_ files: [Source.File], into found: inout FoundEntries) throws(ImportFailure) {
    try read(each: files, into: &found) { file, found throws(ImportFailure) in
      try EnvironmentEntries(file, .dotenv).add(to: &found)
    }
  }
}

/// The reader of files for `docker run --env-file`, which look like other `.env` files, so that `--from` names them.
enum DockerEnvironmentReader: CredentialFile {
  static let format = FileFormat.envDocker
  static let detail = "variables, as docker run --env-file reads them"

  static func isNamed(_ file: Source.File) -> Bool { false }
  static func isAlike(_ file: Source.File) -> Bool { false }

  static func read(_ files: [Source.File], into found: inout FoundEntries) throws(ImportFailure) {
    try read(each: files, into: &found) { file, found throws(ImportFailure) in
      try EnvironmentEntries(file, .docker).add(to: &found)
    }
  }
}

/// The reader of files for systemd's `EnvironmentFile=`, which look like other `.env` files, so that `--from` names
/// them.
enum SystemdEnvironmentReader: CredentialFile {
  static let format = FileFormat.envSystemd
  static let detail = "variables, as systemd's EnvironmentFile= reads them"

  static func isNamed(_ file: Source.File) -> Bool { false }
  static func isAlike(_ file: Source.File) -> Bool { false }

  static func read(_ files: [Source.File], into found: inout FoundEntries) throws(ImportFailure) {
    try read(each: files, into: &found) { file, found throws(ImportFailure) in
      try EnvironmentEntries(file, .systemd).add(to: &found)
    }
  }
}

/// The entries of one file of variables.
///
/// A variable of `.env` is the item `env/NAME`, and one of `.env.prod`, `prod.env` or `app/.env` is `env/prod/NAME` or
/// `env/app/NAME`.
private struct EnvironmentEntries {
  private let file: Source.File
  private let dialect: EnvironmentDialect
  private let text: EnvironmentText
  /// The other ways of reading, with the values that they find by the lines.
  private let others: [(dialect: EnvironmentDialect, values: [Int: EnvironmentText.Variable])]

  init(_ file: Source.File, _ dialect: EnvironmentDialect) throws(ImportFailure) {
    _ = try file.lines()
    (self.file, self.dialect, text) = (file, dialect, try dialect.variables(file))
    if let failure = text.failure { throw failure }
    if text.variables.isEmpty, let first = text.refused.first {
      throw ImportFailure(.damaged, "line \(first.line): \(first.reason)")
    }
    others = EnvironmentDialect.allCases.filter { $0 != dialect }.map { other in
      let found = try? other.variables(file)
      let values = (found?.variables ?? []).map { ($0.line, $0) }
      return (other, Dictionary(values) { first, _ in first })
    }
  }

  private var folder: [String] {
    var name = file.name[...]
    if name.hasPrefix(".env") { name = name.dropFirst(4) }
    if name.hasSuffix(".env") { name = name.dropLast(4) }
    while name.first == "." { name = name.dropFirst() }
    return ["env"] + file.folders + (name.isEmpty ? [] : [String(name)])
  }

  func add(to found: inout FoundEntries) throws(ImportFailure) {
    var settings = Entry(settingsOf: file)
    // A later line for the same variable replaces an earlier one.
    var last: [String: Int] = [:]
    for (index, variable) in text.variables.enumerated() { last[variable.name] = index }
    for (index, variable) in text.variables.enumerated() {
      guard let value = variable.value else {
        settings.addSetting(variable.name, size: 0, "it has no value, or gets it from the environment")
        continue
      }
      guard last[variable.name] == index else {
        let reason = "a later line of the file gives the variable another value"
        settings.addSetting(variable.name, size: value.count, reason)
        continue
      }
      guard !value.starts(with: "vault:".utf8) else {
        settings.addSetting(variable.name, size: value.count, "it refers to an item of a vault")
        continue
      }
      try found.add(entry(variable, value))
    }
    // A line that nobody can read may hold a secret all the same.
    for refused in text.refused {
      settings.refuse("line \(refused.line)", .secret, size: refused.size, refused.reason)
    }
    if text.comments > 0 { settings.addSetting("comments", size: text.comments) }
    if !settings.fields.isEmpty { try found.add(settings) }
  }

  private func entry(_ variable: EnvironmentText.Variable, _ value: [UInt8]) -> Entry {
    var entry = Entry(.value, at: folder + [variable.name])
    if value.isEmpty {
      entry.add(variable.name, .secret, "")
    } else {
      entry.put(variable.name, .secret, value)
    }
    for (other, values) in others {
      let read = values[variable.line]
      if let read, read.value == value, read.name.utf8.elementsEqual(variable.name.utf8) { continue }
      entry.addSetting("value as others read it", size: read?.value?.count ?? 0, "it \(other.difference)")
    }
    if dialect != .docker, value.contains(UInt8(ascii: "$")) {
      entry.addSetting(
        "$ in the value", size: 0, "programs that expand variables read it otherwise; the vault has it as it is written"
      )
    }
    return entry
  }
}
