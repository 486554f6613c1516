internal import CGcrypt
internal import VaultHelper
internal import VaultModel
internal import VaultProcess
internal import VaultWire

/// The program `vault-import`: reads files of other programs for `vault`, which hands them over, and tells their
/// entries. With `--write` it writes such a file of the entries that `vault` tells.
///
/// The parsers of many formats make mistakes, and their input comes from anywhere. So they run in a process of their
/// own, in a sandbox, and `vault` trusts nothing that the process says. What the files hold lies in ordinary memory,
/// because the process exits after one source. A writer runs in the same sandbox, because it uses the same libraries.
public enum ImportProgram {
  static let name = "vault-import"

  /// Runs the program and returns its exit code (sysexits.h).
  public static func main(_ arguments: [String]) -> Int32 {
    if arguments == ["--help"] {
      return StandardStream.answer(
        name,
        "usage: \(name) [--write]\n\nReads files of other programs for vault(1), which starts it, or writes one. "
          + "See \(name)(8).\n")
    }
    if arguments == ["--write"] {
      return HelperProgram.converse(name, frames: ExportCall.frameLimit) { frames in
        answer(ExportConversation(frames))
      }
    }
    guard let kdfMemory = kdfMemory(arguments) else {
      StandardStream.errors.complain(name, "it is started by vault(1); see \(name)(8)")
      return 64
    }
    return HelperProgram.converse(name, frames: ImportCall.frameLimit) { frames in
      answer(ImportConversation(frames), kdfMemory)
    }
  }

  /// The most bytes for the derivation of a key, which the only argument may state; nil for other arguments.
  private static func kdfMemory(_ arguments: [String]) -> UInt64? {
    if arguments.isEmpty { return Source.usualKDFMemory }
    guard arguments.count == 1, arguments[0].hasPrefix(ImportCall.kdfMemoryArgument),
      let number = UInt64(arguments[0].dropFirst(ImportCall.kdfMemoryArgument.utf8.count)),
      ImportCall.kdfMemory.contains(number)
    else { return nil }
    return number
  }

  /// Reads one source, and returns the program's exit code. A failure that `vault` was told is no failure of the
  /// program.
  private static func answer(_ conversation: ImportConversation, _ kdfMemory: UInt64) -> Int32 {
    do throws(ImportFailure) {
      try startLibraries()
      try ImportSandbox.enter(kdfMemory: kdfMemory)
      try read(try conversation.order(), conversation, kdfMemory)
    } catch {
      conversation.fail(error)
    }
    return conversation.end?.rawValue ?? 0
  }

  /// Writes one file, and returns the program's exit code.
  private static func answer(_ conversation: ExportConversation) -> Int32 {
    do throws(ImportFailure) {
      try startLibraries()
      try ImportSandbox.enter()
      let request = try conversation.request()
      let writer = request.order.format.writer
      try writer.write(request.entries, request.order, password: request.password, to: conversation.output)
      try conversation.finish()
    } catch {
      conversation.fail(error)
    }
    return conversation.end?.rawValue ?? 0
  }

  /// Starts the libraries that open files or lock memory at their start. expat and libyaml do neither.
  private static func startLibraries() throws(ImportFailure) {
    guard vault_gcrypt_start() == 1 else { throw ImportFailure(.failed, "libgcrypt is older than \(GCRYPT_VERSION)") }
  }

  private static func read(
    _ order: ImportOrder, _ conversation: ImportConversation, _ kdfMemory: UInt64
  ) throws(ImportFailure) {
    let source = Source(order.files, kdfMemory: kdfMemory) { question throws(ImportFailure) in
      try conversation.ask(question)
    }
    let format = try format(order.format, of: source)
    var sink = ReplySink(conversation)
    try format.reader.read(source, into: &sink)
    try sink.finish()
  }

  /// The format with a name, or the format that the files look like.
  private static func format(_ name: String?, of source: Source) throws(ImportFailure) -> FileFormat {
    if let name {
      guard let format = FileFormat(rawValue: name) else {
        throw ImportFailure(.unknown, "there is no format with this name")
      }
      return format
    }
    guard let format = FileFormat.guess(source) else { throw unknown(source) }
    return format
  }

  /// The failure of a source that looks like no format.
  static func unknown(_ source: Source) -> ImportFailure {
    guard let file = source.files.first, source.files.count == 1 else {
      return ImportFailure(.unknown, "the files look like no known format")
    }
    if unsafe (try? BackupPrefix(file.bytes.span.bytes)) != nil {
      return ImportFailure(.unsupported, "this is a backup of a vault; `vault restore` makes a vault of it")
    }
    return file.bytes.isEmpty
      ? ImportFailure(.damaged, "`\(file.path)` is empty")
      : ImportFailure(.unknown, "`\(file.path)` looks like no known format")
  }
}
