internal import ArgumentParser
internal import VaultModel
internal import VaultWire

struct SetCommand: SecretTaking {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Store an item.",
    discussion: """
      On a terminal the command asks for the value twice, or once if it is pasted; otherwise the value is all of \
      standard input. The line break at the end of a one-line value, such as a password, is left out. An existing item \
      is replaced only with --update; its old value stays as an earlier version. \
      The attribute pattern gives the form of an unusual pairing code, such as ##-####.
      """)

  @Argument(help: ArgumentHelp("The item.", valueName: "name"), completion: ItemNames.completion)
  var name: String?

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The kind of the item: \(ItemKind.allCases.map(\.rawValue).joined(separator: ", ")).", valueName: "kind"),
    completion: .list(ItemKind.allCases.map(\.rawValue)), transform: Words.kind)
  var kind: String?

  @Option(
    help: ArgumentHelp(
      """
      The purpose of the key in the value: \(KeyUse.allCases.map(\.name).joined(separator: ", ")). The key is used \
      only for that purpose, and its use never changes.
      """, valueName: "use"),
    completion: .list(KeyUse.allCases.map(\.name)), transform: Words.use)
  var use: String?

  @Option(
    name: [.customShort("a"), .customLong("attr")],
    help: ArgumentHelp(
      """
      An attribute to search the item by; with --update other attributes stay, and an empty value removes the \
      attribute. Attributes are not secret.
      """, valueName: "key=value"),
    completion: Completes.attribute.kind, transform: Attribute.init(parsing:))
  var attributes: [Attribute] = []

  @Option(
    help: ArgumentHelp(
      "The states in which the item is served: "
        + "\(AccessClass.allCases.map(\.name).joined(separator: ", ")).", valueName: "class"),
    completion: .list(AccessClass.allCases.map(\.name)), transform: Words.accessible)
  var accessible: String?

  @Option(
    help: ArgumentHelp(
      "The proof that each read needs: "
        + "\(Requirement.allCases.map(\.name).joined(separator: ", ")).", valueName: "proof"),
    completion: .list(Requirement.allCases.map(\.name)), transform: Words.require)
  var require: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The time for which one proof counts in your session, up to a day; 60s by default.", valueName: "duration"),
    transform: Times.reuse)
  var reuse: Int64?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      """
      The time at which the value stops being served: a duration from now such as 90d, 6mo or 1y, a date such as \
      2030-01-31 (its first second in UTC), a Unix time such as @1893456000, or never.
      """, valueName: "time"),
    transform: Times.expiry)
  var expires: Expiry?

  @Flag(help: "Accept, without a question, an expiry that has passed, as in an import of old items.")
  var expired = false

  @Option(
    help: ArgumentHelp("Read the value from a file, byte for byte; - is standard input.", valueName: "path"),
    completion: .file())
  var file: String?

  @Flag(help: "Store standard input byte for byte, including the line break at the end of a single line.")
  var exact = false

  @OptionGroup var generator: GeneratorOptions

  @Flag(
    help: """
      With --generate and --use: make a key that is used but never given to anybody, not even to the vault's owner. \
      This never changes.
      """)
  var neverRead = false

  @Flag(help: "Replace an existing item.")
  var update = false

  @Flag(help: "With --update: let even an empty value replace the old one.")
  var allowEmpty = false

  @Flag(help: "With --update: change whatever else is given, but not the value.")
  var keepValue = false

  @Flag(
    help: """
      Store many items: each line of standard input is a JSON object with name, value (or data in base64, or generate, \
      such as "phrase"), and optionally kind, use, attributes, accessible, require, reuse, expires (such as "30d"), \
      update and never_read.
      """)
  var batch = false

  @OptionGroup var globals: Globals

  static let otherWay = "give the value on standard input or with --file, or let --generate make one"

  @Argument(help: .hidden) var unexpected: [String] = []

  func validate() throws {
    try Refused.secretArguments(unexpected, of: self)
    if batch { return try validateBatch() }
    // An update may remove an existing attribute whose name would be refused for a new one.
    for attribute in attributes where !(update && attribute.value.isEmpty) { try attribute.checkKey() }
    try Attribute.checkOnce(attributes)
    guard name != nil else { throw ValidationError("Missing expected argument '<name>'") }
    let sources = [file != nil, generator.generate != nil, keepValue].filter { $0 }.count
    if sources > 1 {
      let all = (exact ? "--exact, " : "") + "--file, --generate and --keep-value"
      throw ValidationError("\(all) exclude each other; give one of them")
    }
    if generator.generate == nil && (generator.options.length != nil || generator.options.noSymbols) {
      throw ValidationError("--length and --no-symbols are for --generate; give --generate too")
    }
    if exact && (generator.generate != nil || keepValue) {
      throw ValidationError("--exact is for a value on standard input")
    }
    if allowEmpty && (!update || keepValue || generator.generate != nil) {
      throw ValidationError("--allow-empty is for a value that replaces another; give it with --update")
    }
    if keepValue && !update { throw ValidationError("--keep-value is for an existing item; give --update too") }
    if let style = generator.generate {
      try generator.options.check(style)
      if style.isKey && use == nil && !update { throw ValidationError("a key is made for a use; give --use too") }
    }
    if expired && expires == nil { throw ValidationError("--expired is for an expiry; give --expires too") }
    if neverRead, generator.generate?.isKey != true {
      let styles = GeneratedStyle.allCases.filter(\.isKey).map(\.rawValue).joined(separator: ", ")
      throw ValidationError(
        "--never-read is for a key that the vault makes itself; give --generate with one of \(styles)")
    }
  }

  private func validateBatch() throws {
    let single = [
      name != nil, kind != nil, use != nil, !attributes.isEmpty, accessible != nil, require != nil, reuse != nil,
      expires != nil,
      file != nil,
      exact, generator.generate != nil, generator.options.length != nil, generator.options.noSymbols, keepValue,
      neverRead,
    ]
    if single.contains(true) {
      throw ValidationError(
        "with --batch everything about an item is in its line; only --update, --allow-empty and --expired can be "
          + "added"
      )
    }
  }

  private var batchTerms: BatchTerms {
    BatchTerms(update: update, allowsEmpty: allowEmpty, allowsExpired: expired)
  }

  func run() throws {
    if batch { return try BatchSet(globals: globals, terms: batchTerms).run() }
    var request = SetRequest(self)
    try request.run()
  }
}

/// An attribute from one `--attr` option.
struct Attribute: Equatable {
  let key: String
  let value: String

  init(key: String, value: String) { (self.key, self.value) = (key, value) }

  init(parsing text: String) throws {
    guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
      throw ValidationError("\(Printable.quoted(text)) is not a valid attribute; write it like owner=ana")
    }
    key = String(text[..<equals])
    value = String(text[text.index(after: equals)...])
  }

  /// Checks that no attribute is given twice: one of the values would be lost in silence.
  static func checkOnce(_ all: [Attribute]) throws {
    var seen: Set<[UInt8]> = []
    for attribute in all where !seen.insert(Array(attribute.key.utf8)).inserted {
      throw ValidationError("the attribute \(Printable.quoted(attribute.key)) is given twice; give it one value")
    }
  }

  /// Checks that a new attribute may have this name.
  func checkKey() throws {
    do throws(ValueError) { try Attributes.checkNew(key) } catch {
      // Several attributes may be given.
      let which = key.isEmpty || error.reason.contains(key) ? "" : "\(Printable.quoted(key)): "
      throw ValidationError("\(which)\(Printable.text(error.reason)); give it another name")
    }
    guard SecretName.isWord(key) else { return }
    // The value may be a secret, so the message does not repeat it.
    throw ValidationError(
      """
      an attribute is not secret: every user of this machine can read it on the command line, and searches show it; \
      store what \(Printable.quoted(key)) stands for as the value of an item of its own, or, if that is not a secret, \
      give the attribute another name, or give it with --batch
      """)
  }
}

/// The options that have the daemon generate a value.
struct GeneratorOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Let the daemon generate the value: a password (the default) or a phrase, or, with --use, a key.",
      valueName: "style"))
  var generate: GeneratedStyle?

  @OptionGroup var options: RecipeOptions

  func recipe(_ style: GeneratedStyle) -> Wire.Generator { options.recipe(style) }
}

/// The options for the generated value.
struct RecipeOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The number of characters of a generated password, or of words of a phrase.", valueName: "count")
  )
  var length: Int?

  @Flag(name: [.customShort("n"), .long], help: "Generate a password of letters and digits only.")
  var noSymbols = false

  func recipe(_ style: GeneratedStyle) -> Wire.Generator {
    var recipe = style.recipe
    if let length { recipe.length = length }
    if noSymbols { recipe.symbols = false }
    return recipe
  }

  func check(_ style: GeneratedStyle) throws {
    if style.isKey && (length != nil || noSymbols) {
      throw ValidationError("--length and --no-symbols are for passwords and phrases, not for keys")
    }
    if style == .phrase && noSymbols { throw ValidationError("--no-symbols is for passwords, not for phrases") }
  }

  /// The daemon's refusal of a length, in the words of the command line; any other failure unchanged.
  func explained(_ failure: Failure, _ style: GeneratedStyle) -> Failure {
    let lengths = style == .phrase ? ValueLimits.phraseLengths : ValueLimits.passwordLengths
    guard failure.exit == .invalid, !style.isKey, let length, !lengths.contains(length) else { return failure }
    return Failure(
      .usage, "--length \(length) is out of range", "give \(lengths.lowerBound) to \(lengths.upperBound)")
  }
}
