/// The command line of `vault-agent`. Unknown options and repeated ones are errors.
struct AgentOptions: Equatable {
  var faces: [FaceName]?
  var pinentry: String?
  var command: String?
  var socket: String?
  /// True to attend only the machine's vault.
  var isSystem = false

  /// The reason why the command line cannot be followed.
  struct Problem: Error, Equatable { let text: String }

  init(_ arguments: [String]) throws(Problem) {
    var seen: Set<String> = []
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let name = parts[0]
      guard seen.insert(name).inserted else { throw Problem(text: "an option is given twice") }
      if argument == "--system" {
        isSystem = true
        continue
      }
      guard ["--faces", "--pinentry", "--command", "--socket"].contains(name) else {
        throw Problem(text: "there is an unknown option or argument")
      }
      guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
        throw Problem(text: "\(name) needs a value")
      }
      if name == "--faces" {
        faces = try Self.faces(value)
        continue
      }
      guard value.hasPrefix("/") else { throw Problem(text: "\(name) needs an absolute path") }
      switch name {
      case "--pinentry": pinentry = value
      case "--command": command = value
      default: socket = value
      }
    }
    if isSystem, socket != nil { throw Problem(text: "--system and --socket exclude each other") }
  }

  private static func faces(_ value: String) throws(Problem) -> [FaceName] {
    let words = value.split(separator: ",", omittingEmptySubsequences: false)
    let names = words.compactMap { FaceName(rawValue: String($0)) }
    guard names.count == words.count, Set(names).count == names.count else {
      throw Problem(
        text: "--faces needs some of \(FaceName.allCases.map(\.rawValue).joined(separator: ",")), each once")
    }
    return names
  }
}
