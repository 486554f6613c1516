internal import ArgumentParser
internal import VaultModel
internal import VaultWire

/// The options of an import of other programs' files.
struct ImportOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Import all items into this folder.", valueName: "folder"), completion: Completes.folder.kind)
  var into: String?

  @Option(
    help: ArgumentHelp(
      "Import only entries of which an item matches, as for find; repeat it for several predicates.",
      valueName: "predicate"),
    completion: Completes.predicate.kind)
  var only: [String] = []

  @Flag(help: "Store a new version where an item with another content is there.")
  var update = false

  @Flag(help: "Store items under another name where one with another content is there.")
  var keepBoth = false

  @Flag(help: "Import entries that are in the source's trash, too.")
  var withTrash = false

  @Flag(help: "Store items and new versions under names that a grant opens to others.")
  var allowGranted = false

  @Option(
    help: ArgumentHelp("Write the account of every field to this new file, without values.", valueName: "file"),
    completion: .file())
  var report: String?

  @Option(
    help: ArgumentHelp(
      "Write the source, with expressions for inject in place of its values, to this new file.", valueName: "file"),
    completion: .file())
  var template: String?

  @Option(help: ArgumentHelp("The key file of the database.", valueName: "file"), completion: .file())
  var keyFile: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The most memory that an encrypted source may ask for to make its key, 1g to 4g; usually 1g.", valueName: "size"),
    transform: Sizes.parse)
  var kdfMemory: Int?

  @Flag(help: "Take the last import back: its items go to the trash.")
  var undo = false

  @OptionGroup var secrets: SecretOptions

  func validate() throws {
    if update && keepBoth { throw ValidationError("--update and --keep-both exclude each other; give one of them") }
    if let report, report == template { throw ValidationError("--report and --template name the same file") }
    if let kdfMemory, !ImportCall.kdfMemory.contains(UInt64(clamping: kdfMemory)) {
      throw ValidationError("--kdf-memory is out of range; give 1g to 4g")
    }
    _ = try folder()
    do throws(QueryError) { _ = try query() } catch { throw ValidationError("--only: \(error.reason)") }
  }

  /// The options that are given and that only an import of files has.
  var ofFiles: [String] {
    let all = [
      ("--into", into != nil), ("--only", !only.isEmpty), ("--update", update), ("--keep-both", keepBoth),
      ("--with-trash", withTrash), ("--allow-granted", allowGranted), ("--report", report != nil),
      ("--template", template != nil), ("--key-file", keyFile != nil), ("--kdf-memory", kdfMemory != nil),
      ("--password-stdin", secrets.passwordStdin),
    ]
    return all.filter(\.1).map(\.0)
  }

  /// The parts of the folder for all items; none without `--into`.
  func folder() throws -> [String] {
    guard let into else { return [] }
    let text = into.hasSuffix("/") ? String(into.dropLast()) : into
    let parts = text.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    do throws(NameError) { _ = try ItemName(text) } catch { throw ValidationError("--into: \(error.reason)") }
    guard text.utf8.count <= ImportNaming.longestFolder.bytes, parts.count <= ImportNaming.longestFolder.parts else {
      throw ValidationError(
        "--into is too long: a folder for an import has up to \(ImportNaming.longestFolder.bytes) bytes "
          + "and \(ImportNaming.longestFolder.parts) parts")
    }
    if let first = parts.first, ImportNaming.reserved.contains(first) {
      throw ValidationError("--into: the folder \(first) belongs to the vault's keyring")
    }
    return parts
  }

  /// The query of `--only`; nil without it.
  func query() throws(QueryError) -> Query? {
    only.isEmpty ? nil : try Query(parsing: only.joined(separator: " "))
  }

  var files: ImportFiles { ImportFiles(report: report, template: template) }

  func terms() throws(QueryError) -> ImportTerms {
    ImportTerms(update: update, keepBoth: keepBoth, withTrash: withTrash, only: try query())
  }
}
