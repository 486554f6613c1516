internal import VaultWire

/// The reader of databases of KeePass in the formats KDBX 3 and 4.
enum KDBXReader: SourceReader {
  /// The number of times that a wrong password is asked for again.
  private static let attempts = 3

  static func recognizes(_ source: Source) -> Bool {
    // The first half of the signature is also that of KeePass 1, of which the reader says that it cannot read it.
    source.files.count == 1 && source.files[0].bytes.starts(with: KDBXHeader.signature.prefix(4))
  }

  static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    let file = try source.onlyFile()
    let header = try KDBXHeader(file.bytes)
    // These need no password, so nobody is asked for one in vain.
    try KDBXContainer.check(header)
    let derivation = try header.derivation(mostMemory: source.kdfMemory)
    var budget = KDBXBudget(fileCount: file.bytes.count)
    let container = try open(header, derivation, source, &budget)
    let document = try KDBXTree.read(container, budget)
    try check(document.about.headerHash, header)
    var account = KDBXAccount(document)
    let detail = "KeePass database, KDBX \(header.major).\(header.minor), \(derivation.text)"
    try sink.begin(ImportedFormat(name: "kdbx", detail: detail, source: account.source))
    let name = file.name.hasSuffix(".kdbx") ? String(file.name.dropLast(".kdbx".utf8.count)) : file.name
    try account.send(name, to: &sink)
  }

  /// Asks for the password and the key file until they open the database.
  private static func open(
    _ header: KDBXHeader, _ derivation: KDBXDerivation, _ source: Source, _ budget: inout KDBXBudget
  ) throws(ImportFailure) -> KDBXContainer {
    let file = try source.onlyFile()
    var password = try source.secret(.password, of: file)
    let keyFile = try source.secret(.keyFile, of: file)
    guard password != nil || keyFile != nil else {
      throw ImportFailure(.noSecret, "the database needs its password, its key file, or both")
    }
    for attempt in 0...attempts {
      for composite in try KDBXKey.composites(password: password, keyFile: keyFile) {
        let key = try KDBXKey(composite, header, derivation)
        if let container = try KDBXContainer(header, key, &budget) { return container }
      }
      guard attempt < attempts else { break }
      password = try source.secret(.password, of: file, isAgain: true)
      if password == nil { break }
    }
    throw ImportFailure(.wrongSecret, "the password or the key file is wrong")
  }

  /// Checks the hash of the header that KDBX 3.1 has in the document.
  private static func check(_ hash: [UInt8]?, _ header: KDBXHeader) throws(ImportFailure) {
    guard header.major == 3, let hash else { return }
    guard try KDBXDigest.sha256(header.bytes) == hash else {
      throw ImportFailure(.damaged, "the database is damaged: the checksum of its header does not match")
    }
  }
}
