internal import Logging
internal import VaultModel
internal import VaultService
internal import VaultWire

/// The settings of `vaultd.conf`: a few `key = value` lines, parsed strictly.
struct Configuration: Sendable, Equatable {
  /// The settings of the vault itself.
  var vault = VaultSettings()
  /// The TPM's name for libtss2: the kind of connection, a colon, and its settings.
  var tpm2Device = "device:/dev/tpmrm0"
  /// The bus name of the Secret Service that the `keyring` keystore uses; nil for the usual one.
  var keyringBusName: String?
  /// The most connections at once, of all clients together.
  var maxConnections = 256
  static let connectionLimits = 4...32_768
  /// The number of requests a second that one uid may make before its connections are slowed down.
  var maxRequestsPerSecond = 100_000
  /// True when the ssh-agent is on.
  var sshAgent = false
  /// True when the daemon serves org.freedesktop.secrets.
  var secretService = false
  var logLevel = Logger.Level.info

  typealias Problem = SettingLines.Problem

  init() {}

  /// Reads the text of a file.
  ///
  /// - Parameter isSystem: true for the settings of the machine's vault.
  init(parsing text: String, isSystem: Bool = false) throws(Problem) {
    try SettingLines.read(text) { set($0, $1, isSystem: isSystem) }
  }

  /// The keys of all settings.
  static let keys = [
    "idle", "maximum-age", "trash", "audit", "audit-size", "audit-age", "hide-names", "keep-across-sleep", "boot-key",
    "tpm2-device", "keyring-bus-name",
    "pam-service", "max-connections", "max-requests-per-second", "ssh-agent", "secret-service",
    "secret-service-accessible", "secret-service-share", "secret-service-patience", "log-level",
  ]

  /// Stores one setting; returns the reason when its value is wrong.
  private mutating func set(_ key: String, _ value: String, isSystem: Bool) -> String? {
    switch key {
    case "idle": return Self.span(key, value, into: &vault.idle)
    case "maximum-age": return Self.span(key, value, into: &vault.maximumAge)
    case "trash": return Self.span(key, value, isDestructive: true, into: &vault.trash)
    case "audit":
      guard let mode = AuditSettings.Mode(rawValue: value) else { return "audit is on, off or required" }
      vault.audit.mode = mode
    case "audit-size":
      guard let bytes = Self.bytes(value), AuditSettings.sizes.contains(bytes) else {
        return "audit-size is a number of bytes such as 64m, from 1m to 16g"
      }
      vault.audit.size = bytes
    case "audit-age": return Self.span(key, value, isDestructive: true, into: &vault.audit.age)
    case "hide-names": return Self.flag(key, value, into: &vault.hideNames) ?? sharedAndHidden
    case "keep-across-sleep": return Self.flag(key, value, into: &vault.keepAcrossSleep)
    case "boot-key":
      guard let key = BootKey(setting: value) else {
        return "boot-key is an absolute path, tpm2: and an absolute path, or credential: and a name"
      }
      vault.bootKey = key
    case "tpm2-device":
      guard Self.isDevice(value) else {
        return "tpm2-device is device: and an absolute path, or swtpm: and path=, host= or port="
      }
      tpm2Device = value
    case "keyring-bus-name":
      guard Self.isBusName(value) else { return "keyring-bus-name is a bus name such as org.freedesktop.secrets" }
      keyringBusName = value
    case "pam-service":
      var named = vault
      named.pamService = value
      guard PresenceWire.isService(named.biometryService) else {
        return "pam-service is `vault` or begins with `vault-`, in at most 55 lower case letters, digits and dashes"
      }
      vault = named
    case "max-connections":
      guard let count = Int(value), Self.connectionLimits.contains(count) else {
        return "max-connections is from \(Self.connectionLimits.lowerBound) to \(Self.connectionLimits.upperBound)"
      }
      maxConnections = count
    case "max-requests-per-second":
      guard let count = Int(value), (10...10_000_000).contains(count) else {
        return "max-requests-per-second is from 10 to 10000000"
      }
      maxRequestsPerSecond = count
    case "ssh-agent":
      guard let isOn = ["on": true, "off": false][value] else { return "ssh-agent is on or off" }
      sshAgent = isOn
    case "secret-service":
      guard let isOn = ["on": true, "off": false][value] else { return "secret-service is on or off" }
      if isOn, isSystem { return "the machine's vault has no session bus, and so no secret-service" }
      secretService = isOn
    case "secret-service-accessible":
      guard let accessible = AccessClass(name: value) else {
        return "secret-service-accessible is one of \(AccessClass.allCases.map(\.name).joined(separator: ", "))"
      }
      vault.keyring.accessible = accessible
    case "secret-service-share":
      var shares: [ItemPattern] = []
      for text in value.split(separator: " ") where value != "none" {
        do throws(NameError) { shares.append(try ItemPattern(String(text))) } catch {
          return "secret-service-share: \(error.reason)"
        }
      }
      vault.keyring.shares = shares
      return sharedAndHidden
    case "secret-service-patience":
      do throws(ValueError) { vault.keyring.limits = try PromptLimits(parsing: value) } catch {
        return "secret-service-patience: \(error.reason)"
      }
    case "log-level":
      guard let level = Logger.Level(rawValue: value) else {
        return "log-level is one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))"
      }
      logLevel = level
    default: return SettingLines.unknown(key, among: Self.keys)
    }
    return nil
  }

  /// Returns true only for connections to a TPM. libtss2 also accepts a command to run, or the path of any library, as
  /// a kind of connection.
  private static func isDevice(_ value: String) -> Bool {
    guard let colon = value.firstIndex(of: ":"), value.utf8.count <= 255 else { return false }
    let settings = value[value.index(after: colon)...]
    switch value[..<colon] {
    case "device": return settings.hasPrefix("/") && !settings.contains(",")
    case "swtpm":
      return settings.split(separator: ",", omittingEmptySubsequences: false).allSatisfy { setting in
        let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty else { return false }
        switch parts[0] {
        case "path": return parts[1].hasPrefix("/")
        case "host": return parts[1].utf8.allSatisfy { isWordByte($0) || $0 == UInt8(ascii: ":") }
        case "port": return UInt16(parts[1]) != nil
        default: return false
        }
      }
    default: return false
    }
  }

  private static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): true
    default: false
    }
  }

  /// Returns true for a well-known name, as the D-Bus specification defines it.
  private static func isBusName(_ value: String) -> Bool {
    let parts = value.split(separator: ".", omittingEmptySubsequences: false)
    return value.utf8.count <= 255 && parts.count > 1
      && parts.allSatisfy { part in
        guard let first = part.first, !("0"..."9").contains(first) else { return false }
        return part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") }
      }
  }

  /// Reads a number of bytes, such as `64m`.
  private static func bytes(_ value: String) -> Int64? {
    let shift: Int64
    switch value.last {
    case "k": shift = 10
    case "m": shift = 20
    case "g": shift = 30
    default: return Int64(value)
    }
    guard let count = Int64(value.dropLast()), count > 0 else { return nil }
    let (bytes, overflow) = count.multipliedReportingOverflow(by: 1 << shift)
    return overflow ? nil : bytes
  }

  /// The reason why two settings exclude each other.
  private var sharedAndHidden: String? {
    guard vault.hideNames, !vault.keyring.shares.isEmpty else { return nil }
    return "hide-names and secret-service-share exclude each other: programs know shared items by their names"
  }

  private static func flag(_ key: String, _ value: String, into target: inout Bool) -> String? {
    guard let flag = ["true": true, "false": false][value] else { return "\(key) is true or false" }
    target = flag
    return nil
  }

  /// Reads a time.
  ///
  /// - Parameter isDestructive: True if a short time deletes something for good. A number without a unit is then
  ///   accepted only if it is at least an hour in seconds, because a smaller number was probably meant as days.
  private static func span(
    _ key: String, _ value: String, isDestructive: Bool = false, into target: inout Int64?
  ) -> String? {
    if value == "off" {
      target = nil
      return nil
    }
    guard let seconds = Seconds.parse(value) else {
      return "\(key) is a time without blanks, such as 90s, 5m or 12h, or off"
    }
    guard seconds > 0 else { return "\(key) is a second or more, or off" }
    if isDestructive, seconds < 3600, value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
      return "\(key): \(value) is seconds; give it a unit, as in 30d, or write \(value)s if you mean so short a time"
    }
    target = seconds
    return nil
  }
}
