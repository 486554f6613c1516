internal import VaultBytes
internal import VaultWire

/// The reader of npm's `.npmrc` (npmrc(5) and config(7) of npm), which yarn 1, pnpm and bun also read.
///
/// A registry is the item `npm/HOST` or `npm/HOST%2FPATH`, whose value is the token or the password.
enum NpmrcReader: CredentialFile {
  static let format = FileFormat.npmrc
  static let detail = "npm's settings"

  static func isNamed(_ file: Source.File) -> Bool { file.isNamed(".npmrc", "npmrc") }

  static func isAlike(_ file: Source.File) -> Bool {
    guard let content = try? NpmrcFile(file.firstLines) else { return false }
    return content.settings.contains { setting in
      setting.registry.map { NpmrcRegistry.keys.contains($0.key) && !$0.key.isEmpty } ?? false
    }
  }

  static func read(_ files: [Source.File], into found: inout FoundEntries) throws(ImportFailure) {
    try read(each: files, into: &found) { file, found throws(ImportFailure) in
      let content = try NpmrcFile(file.lines())
      var settings = Entry(settingsOf: file)
      var registries: [NpmrcRegistry] = []
      var places: [String: Int] = [:]
      let main = content.settings.first { $0.key == "registry" }?.value
      for setting in content.settings {
        if let (address, key) = setting.registry ?? ofMain(setting, main) {
          if places[address] == nil {
            places[address] = registries.count
            registries.append(NpmrcRegistry(address))
          }
          registries[places[address] ?? 0].settings.append((key, setting))
        } else if NpmrcRegistry.mayBeSecret(setting) {
          var entry = Entry(.value, at: ["npm", NameSegment.encode(setting.key)])
          entry.put(setting.key, .secret, setting.value)
          try found.add(entry)
        } else {
          settings.addSetting(setting.key, size: setting.value.utf8.count)
        }
      }
      for registry in registries { try found.add(registry.entry) }
      if content.comments > 0 { settings.addSetting("comments", size: content.comments) }
      if !settings.fields.isEmpty { try found.add(settings) }
    }
  }

  /// The registry of a setting without one, as npm up to version 8 reads it: the main registry.
  private static func ofMain(_ setting: NpmrcFile.Setting, _ main: String?) -> (address: String, key: String)? {
    guard ["_auth", "_authToken", "_password", "username", "email"].contains(setting.key) else { return nil }
    let url = Array((main ?? "https://registry.npmjs.org/").utf8)[...]
    let address = url.divided(at: UInt8(ascii: ":"))?.1 ?? url
    let setting = NpmrcFile.Setting(key: "\(address.text)/:\(setting.key)", value: "")
    return setting.registry
  }
}

/// The settings of one registry.
private struct NpmrcRegistry {
  /// The keys that hold credentials.
  static let keys: Set = ["_authToken", "_auth", "_password", "username", "email"]

  let address: String
  var settings: [(key: String, setting: NpmrcFile.Setting)] = []

  init(_ address: String) { self.address = address }

  /// True for a setting of npm as a whole that may be a secret: a key, or a URL with a password.
  static func mayBeSecret(_ setting: NpmrcFile.Setting) -> Bool {
    if setting.isFromEnvironment || setting.value.isEmpty { return false }
    if setting.key.hasPrefix("[") || FieldName.role(setting.key) == .secret { return true }
    guard let start = setting.value.firstRange(of: "://") else { return false }
    let authority = setting.value[start.upperBound...].prefix { !"/?#".contains($0) }
    return authority.contains("@")
  }

  var entry: Entry {
    let hasToken = settings.contains { $0.key == "_authToken" && !$0.setting.isFromEnvironment }
    var entry = Entry(hasToken ? .token : .login, at: ["npm", NameSegment.encode(address)])
    entry.add("registry", .url, "https://\(address)/")
    var hasPassword = false
    for (key, setting) in settings {
      guard !setting.isFromEnvironment else {
        entry.addSetting(key, size: setting.value.utf8.count, "it refers to a variable of the environment")
        continue
      }
      func secret() -> ImportedField.Role {
        defer { hasPassword = true }
        return hasPassword ? .secret : .password
      }
      switch key {
      case "_authToken": entry.put(key, .password, setting.value)
      case "_password":
        entry.put(key, hasToken ? .secret : secret(), [UInt8](base64: setting.value) ?? Array(setting.value.utf8))
      case "_auth":
        if let (user, password) = [UInt8](base64: setting.value)?[...].divided(at: UInt8(ascii: ":")) {
          entry.put(key, .username, user)
          entry.put(key, hasToken ? .secret : secret(), password)
        } else {
          entry.put(key, hasToken ? .secret : secret(), setting.value)
        }
      case "username": entry.put(key, .username, setting.value)
      case "email": entry.put(key, .text, setting.value)
      default: entry.addSetting(key, size: setting.value.utf8.count)
      }
    }
    return entry
  }
}
