internal import CGcrypt
internal import VaultHelper
internal import VaultProcess
internal import VaultWire

/// The program `vault-import`: reads files of other programs for `vault`, which hands them over, and tells their
/// entries.
///
/// The parsers of many formats make mistakes, and their input comes from anywhere. So they run in a process of their
/// own, in a sandbox, and `vault` trusts nothing that the process says. What the files hold lies in ordinary memory,
/// because the process exits after one source.
public enum ImportProgram {
  static let name = "vault-import"

  /// Runs the program and returns its exit code (sysexits.h).
  public static func main(_ arguments: [String]) -> Int32 {
    if arguments == ["--help"] {
      return StandardStream.answer(
        name, "usage: \(name)\n\nReads files of other programs for vault(1), which starts it. See \(name)(8).\n")
    }
    guard arguments.isEmpty else {
      StandardStream.errors.complain(name, "it takes no arguments; see \(name)(8)")
      return 64
    }
    return HelperProgram.converse(name, frames: ImportCall.frameLimit) { frames in answer(ImportConversation(frames)) }
  }

  /// Reads one source, and returns the program's exit code. A failure that `vault` was told is no failure of the
  /// program.
  private static func answer(_ conversation: ImportConversation) -> Int32 {
    do throws(ImportFailure) {
      try startLibraries()
      try ImportSandbox.enter()
      try read(try conversation.order(), conversation)
    } catch {
      conversation.fail(error)
    }
    return conversation.end?.rawValue ?? 0
  }

  /// Starts the libraries that open files or lock memory at their start. expat does neither.
  private static func startLibraries() throws(ImportFailure) {
    guard vault_gcrypt_start() == 1 else { throw ImportFailure(.failed, "libgcrypt is older than \(GCRYPT_VERSION)") }
  }

  private static func read(_ order: ImportOrder, _ conversation: ImportConversation) throws(ImportFailure) {
    let source = Source(order.files) { question throws(ImportFailure) in try conversation.ask(question) }
    let format = try format(order.format, of: source)
    var sink = ReplySink(conversation)
    try format.reader.read(source, into: &sink)
    try sink.finish()
  }

  /// The format with a name, or the format that the files look like.
  private static func format(_ name: String?, of source: Source) throws(ImportFailure) -> SourceFormat {
    if let name {
      guard let format = SourceFormat(rawValue: name) else {
        throw ImportFailure(.unknown, "there is no format with this name")
      }
      return format
    }
    guard let format = SourceFormat.guess(source) else {
      throw ImportFailure(.unknown, "no known format looks like this")
    }
    return format
  }
}
