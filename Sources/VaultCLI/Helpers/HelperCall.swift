internal import Glibc
internal import VaultModel

/// One run of a helper: the words of the other program, and the options for reaching the daemon.
///
/// The command line is read without the argument parser, whose start costs as much as all the rest.
struct HelperCall {
  let helper: any CredentialHelper.Type
  /// The words that belong to the protocol.
  private(set) var words: [String] = []
  private(set) var socket: String?
  private(set) var system = false
  /// The seconds to wait for an unlock; nil if no time was given.
  private(set) var waitSeconds: Int64?
  private var wantsGuide = false
  private var wantsVersion = false

  /// Returns the run that the command line asks for, through a link's name or through `helper` and a protocol; nil for
  /// any other command line.
  static func given() throws(Failure) -> HelperCall? {
    // The kernel's own argument vector: it lives as long as the process, and each of its strings ends with a NUL.
    let argv = unsafe CommandLine.unsafeArgv
    guard CommandLine.argc > 0, let path = unsafe argv[0] else { return nil }
    let slash = unsafe strrchr(path, Int32(UInt8(ascii: "/")))
    let program = unsafe slash.map { unsafe $0 + 1 } ?? path
    // Most runs are of `vault` itself and of no helper.
    let isItself = unsafe strcmp(program, "vault") == 0
    if isItself {
      guard CommandLine.argc > 2, let command = unsafe argv[1], unsafe strcmp(command, "helper") == 0 else {
        return nil
      }
      return try HelperCall(CommandLine.arguments.dropFirst(2))
    }
    guard let helper = unsafe Helpers.linked(String(cString: program)) else { return nil }
    return try HelperCall(helper, CommandLine.arguments.dropFirst())
  }

  /// Reads `PROTOCOL WORDS`; nil if the first word is not a protocol's name.
  init?(_ arguments: ArraySlice<String>) throws(Failure) {
    guard let helper = arguments.first.flatMap(Helpers.named) else { return nil }
    try self.init(helper, arguments.dropFirst())
  }

  init(_ helper: any CredentialHelper.Type, _ arguments: ArraySlice<String>) throws(Failure) {
    self.helper = helper
    var rest = arguments
    while let word = rest.popFirst() {
      let isOption = words.isEmpty || helper.takesTypedWords
      guard isOption, try takeOption(word, &rest) else {
        words.append(word)
        continue
      }
    }
    if system, socket != nil {
      throw Failure(.usage, "--system and --socket exclude each other", "give one of them")
    }
  }

  /// Takes an option of `vault` with its value; returns false if the word is no such option.
  private mutating func takeOption(_ word: String, _ rest: inout ArraySlice<String>) throws(Failure) -> Bool {
    func value() throws(Failure) -> String {
      guard let value = rest.popFirst() else { throw Failure(.usage, "\(word) needs a value", advice) }
      return value
    }
    switch word {
    case "--help", "-h": wantsGuide = true
    case "--version": wantsVersion = true
    case "--system": system = true
    case "--socket": socket = try value()
    case _ where word.hasPrefix("--socket="): socket = String(word.dropFirst("--socket=".count))
    case "--wait": waitSeconds = try seconds(value())
    case _ where word.hasPrefix("--wait="): waitSeconds = try seconds(String(word.dropFirst("--wait=".count)))
    default: return false
    }
    return true
  }

  private func seconds(_ text: String) throws(Failure) -> Int64 {
    do throws(ValueError) { return try Times.waitSeconds(text) } catch {
      throw Failure(.usage, "the value is invalid for --wait: \(error.reason)", advice)
    }
  }

  /// Returns this run with more options, which the other program passed in its input.
  func adding(_ options: [String]) throws(Failure) -> HelperCall {
    var call = self
    var rest = options[...]
    while let word = rest.popFirst() {
      guard try call.takeOption(word, &rest) else { throw call.unusable }
    }
    return call
  }

  /// The failure for words that the protocol does not know.
  var unusable: Failure { Failure(.usage, "these words do not belong to \(helper.name)'s protocol", advice) }

  /// The failure for a command line that lacks a word.
  ///
  /// - Parameter word: what the word stands for, with its article.
  func lacking(_ word: String) -> Failure { Failure(.usage, "\(helper.name)'s protocol needs \(word)", advice) }

  private var advice: String { "see `vault helper \(helper.name) --help`" }

  func run() throws {
    if wantsGuide { return try Output.line(helper.guide) }
    if wantsVersion { return try Output.line(ClientVersion.line) }
    try helper.run(self)
  }
}
