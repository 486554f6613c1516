internal import CLinux
internal import Glibc
internal import VaultModel
internal import VaultProcess

/// The settings of `agent.conf`: a few `key = value` lines, parsed strictly.
struct AgentSettings: Equatable {
  /// The faces with which a person is asked, in their order; nil when the file leaves the choice to the program.
  var faces: [FaceName]?
  /// The absolute path of a pinentry; nil for the usual one.
  var pinentry: String?
  /// The absolute path of the program that the command face runs.
  var command: String?
  /// True to attend the machine's vault as well; nil when the file does not say.
  var attendsSystem: Bool?

  /// The reason why a file cannot be followed.
  struct Problem: Error, Equatable, CustomStringConvertible {
    var path = ""
    /// The number of the line, counted from 1; 0 for the file as a whole.
    var line: Int
    var reason: String

    var description: String { path.isEmpty ? reason : line == 0 ? "\(path): \(reason)" : "\(path):\(line): \(reason)" }
  }

  init() {}

  /// Reads the settings from the user's own file.
  static func own() throws(Problem) -> AgentSettings {
    let config = Environment.variable("XDG_CONFIG_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
    guard let folder = config ?? Environment.variable("HOME").map({ $0 + "/.config" }) else { return AgentSettings() }
    return try AgentSettings(reading: folder + "/vault/agent.conf")
  }

  /// Returns the settings, with those of the command line replacing the file's.
  func overridden(by options: AgentOptions) throws(Problem) -> AgentSettings {
    var settings = self
    settings.faces = options.faces ?? faces
    settings.pinentry = options.pinentry ?? pinentry
    settings.command = options.command ?? command
    for (option, path) in [("--pinentry", options.pinentry), ("--command", options.command)] {
      if let reason = path.flatMap({ Self.problem(option, $0) }) { throw Problem(line: 0, reason: reason) }
    }
    if settings.faces?.contains(.command) == true, settings.command == nil {
      throw Problem(line: 0, reason: "the face `command` needs a program: set `command`, or give --command PATH")
    }
    return settings
  }

  /// Reads a file of at most 64 KiB. A missing file gives no settings.
  init(reading path: String) throws(Problem) {
    self.init()
    guard let text = try Self.text(of: path) else { return }
    do throws(Problem) { self = try AgentSettings(parsing: text) } catch {
      throw Problem(path: path, line: error.line, reason: error.reason)
    }
  }

  /// Reads the text of a file.
  init(parsing text: String) throws(Problem) {
    do throws(SettingLines.Problem) { try SettingLines.read(text) { set($0, $1) } } catch {
      throw Problem(line: error.line, reason: error.reason)
    }
  }

  /// Stores one setting; returns the reason when its value is wrong.
  private mutating func set(_ key: String, _ value: String) -> String? {
    switch key {
    case "faces":
      let words = value.split { $0 == " " || $0 == "\t" }
      let named = words.compactMap { FaceName(rawValue: String($0)) }
      guard !words.isEmpty, named.count == words.count, Set(named).count == named.count else {
        return "faces is one or more of \(FaceName.allCases.map(\.rawValue).joined(separator: ", ")), each once"
      }
      faces = named
    case "pinentry": return Self.path(key, value, into: &pinentry)
    case "command": return Self.path(key, value, into: &command)
    case "system":
      guard let flag = ["yes": true, "no": false][value] else { return "system is yes or no" }
      attendsSystem = flag
    default: return SettingLines.unknown(key, among: ["faces", "pinentry", "command", "system"])
    }
    return nil
  }

  private static func path(_ key: String, _ value: String, into target: inout String?) -> String? {
    if let problem = problem(key, value) { return problem }
    target = value
    return nil
  }

  /// Returns the reason why a setting or an option cannot name the program at a path; nil if it can.
  private static func problem(_ key: String, _ path: String) -> String? {
    guard path.hasPrefix("/"), Printable.isPlain(path), path.utf8.count < PATH_MAX else {
      return "\(key) is the absolute path of a program"
    }
    guard unsafe access(path, X_OK) == 0 else {
      return "\(key) is \(Printable.quoted(path)), which cannot be run: \(SystemText.of(errno))"
    }
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return "\(key) is \(Printable.quoted(path)), which is not a program"
    }
    return nil
  }

  private static func text(of path: String) throws(Problem) -> String? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw Problem(path: path, line: 0, reason: "cannot be read: \(SystemText.of(errno))")
    }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 65_537)
    var count = 0
    while count < bytes.count {
      // The rest of the array, valid for this one call.
      let added = unsafe bytes.withUnsafeMutableBytes {
        unsafe read(descriptor, $0.baseAddress! + count, $0.count - count)
      }
      if added == 0 { break }
      if added < 0 && errno == EINTR { continue }
      guard added > 0 else { throw Problem(path: path, line: 0, reason: "cannot be read: \(SystemText.of(errno))") }
      count += added
    }
    guard count < bytes.count else { throw Problem(path: path, line: 0, reason: "is larger than 64 KiB") }
    guard let text = String(validating: bytes[..<count], as: UTF8.self) else {
      throw Problem(path: path, line: 0, reason: "is not UTF-8")
    }
    return text
  }
}
