internal import ArgumentParser
internal import VaultModel

struct DepositCommand: SecretTaking {
  static let configuration = CommandConfiguration(
    commandName: "deposit",
    abstract: "Deposit a value for an item, even while the vault is locked.",
    discussion: """
      The command reads the value as `vault set` does. The deposit makes the item, or adds a version to an existing \
      item that you may also set; while the vault is locked, the value waits for the next unlock. A deposit that \
      cannot be taken in is kept aside, see `vault deposits`. With --seal the value is sealed to the key of another \
      vault, on any machine, and with --sealed it is deposited there.
      """)

  @Argument(help: ArgumentHelp("The item.", valueName: "name"), completion: ItemNames.completion)
  var name: String?

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The kind of a new item, which an existing item must have: "
        + "\(ItemKind.allCases.map(\.rawValue).joined(separator: ", ")).",
      valueName: "kind"),
    completion: .list(ItemKind.allCases.map(\.rawValue)), transform: Words.kind)
  var kind: String?

  @Option(
    name: [.customShort("a"), .customLong("attr")],
    help: ArgumentHelp(
      "An attribute to search the item by; an existing item must have the same. Attributes are not secret.",
      valueName: "key=value"),
    completion: Completes.attribute.kind, transform: Attribute.init(parsing:))
  var attributes: [Attribute] = []

  @Option(
    help: ArgumentHelp(
      "The states in which the item is served: "
        + "\(AccessClass.allCases.map(\.name).joined(separator: ", ")).", valueName: "class"),
    completion: .list(AccessClass.allCases.map(\.name)), transform: Words.accessible)
  var accessible: String?

  @Option(
    help: ArgumentHelp("Read the value from a file, byte for byte; - is standard input.", valueName: "path"),
    completion: .file())
  var file: String?

  @Flag(help: "Deposit standard input byte for byte, including the line break at the end of a single line.")
  var exact = false

  @Flag(help: "Deposit even an empty value, which may replace another value.")
  var allowEmpty = false

  @Option(help: ArgumentHelp("The purpose of the deposit, for the audit log.", valueName: "text"))
  var reason: String?

  @Flag(help: "Seal the value to the key of another vault instead, and print it as one line.")
  var seal = false

  @Option(
    help: ArgumentHelp(
      "With --seal: the output of `vault show-key` there; - is standard input.", valueName: "file"),
    completion: .file())
  var key: String?

  @Option(
    name: [.customShort("o"), .long],
    help: ArgumentHelp("With --seal: write the line to a file instead of standard output.", valueName: "file"),
    completion: .file())
  var output: String?

  @Flag(help: "With --output: replace an existing file, but none that the command reads.")
  var force = false

  @Option(
    help: ArgumentHelp("Deposit what --seal has made, which names the item; - is standard input.", valueName: "file"),
    completion: .file())
  var sealed: String?

  @OptionGroup var globals: Globals

  static let otherWay = "give the value on standard input or with --file"

  @Argument(help: .hidden) var unexpected: [String] = []

  mutating func validate() throws {
    if output == "-" { output = nil }
    try Purpose.check(reason)
    if sealed != nil { return try validateSealed() }
    try Refused.secretArguments(unexpected, of: self)
    guard name != nil else { throw ValidationError("Missing expected argument '<name>'") }
    for attribute in attributes { try attribute.checkKey() }
    try Attribute.checkOnce(attributes)
    if !seal {
      if key != nil { throw ValidationError("--key is for --seal; give --seal too") }
      if output != nil { throw ValidationError("--output is for --seal; give --seal too") }
    } else {
      guard let key else { throw ValidationError("--seal needs a key; give it with --key") }
      if key == "-" && (file == nil || file == "-") {
        throw ValidationError("standard input cannot supply both the key and the value; name a file for one of them")
      }
      if reason != nil { throw ValidationError("--reason is for the deposit itself; give it with --sealed") }
    }
    if force && output == nil { throw ValidationError("--force is for --output; give --output too") }
  }

  private func validateSealed() throws {
    let others = [
      name != nil, kind != nil, !attributes.isEmpty, accessible != nil, file != nil, exact, allowEmpty, seal,
      key != nil,
      output != nil, force,
    ]
    if others.contains(true) {
      throw ValidationError("a sealed deposit itself says what it is for; give only --reason with --sealed")
    }
  }

  func run() throws { try DepositRequest(self).run() }
}
