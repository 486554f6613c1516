internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The file, folder, pipe or wallet that a person names as the source of an import.
///
/// Its files go to `vault-import` as they are. Only what needs a program of the user's own is opened here: the files of
/// a password store by gpg or age, and a wallet of KDE by kwallet-query.
struct ImportSource {
  enum Kind {
    case file, folder, pipe
    /// A password store of pass(1), and one of passage.
    case passStore, ageStore
    /// A wallet of KDE, which has a name and no path.
    case wallet

    /// The format that a program of the user's own opens; nil for files that are sent as they are.
    var format: ImportOrigin? {
      switch self {
      case .file, .folder, .pipe: nil
      case .passStore: .pass
      case .ageStore: .passage
      case .wallet: .kwallet
      }
    }
  }

  /// The argument; `-` means standard input. For a wallet, its name.
  let path: String
  let kind: Kind
  /// The name of the file or folder, without the folders that contain it.
  let name: String
  let descriptor: Int32
  private let status: stat

  /// The name of a pipe's only file.
  private static let input = "standard-input"

  /// Opens the source. A symbolic link in the path that a person gives is followed.
  ///
  /// - Parameter format: The format that a person names; nil if none is named.
  init(_ path: String, as format: String? = nil) throws(Failure) {
    if format == ImportOrigin.kwallet.rawValue {
      (self.path, name, kind, descriptor, status) = (path, path, .wallet, -1, stat())
      return
    }
    let isInput = path == "-"
    let opened = isInput ? STDIN_FILENO : unsafe vault_open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    // The numbers must not collide with the descriptors of programs that are started.
    let descriptor = opened < 0 ? -1 : fcntl(opened, F_DUPFD_CLOEXEC, 3)
    var status = stat()
    guard descriptor >= 0, unsafe fstat(descriptor, &status) == 0 else {
      let what = isInput ? "standard input" : Printable.quoted(path)
      throw Failure(.io, "cannot open \(what): \(Output.describe(errno))")
    }
    if !isInput { close(opened) }
    guard isatty(descriptor) == 0 else {
      close(descriptor)
      throw Failure(.usage, "a terminal holds nothing to import", "name a file or a folder")
    }
    (self.path, self.descriptor, self.status) = (path, descriptor, status)
    switch status.st_mode & S_IFMT {
    case S_IFREG: kind = .file
    case S_IFDIR: kind = Self.kind(ofFolder: descriptor, as: format)
    default: kind = .pipe
    }
    let last = path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? ""
    name = isInput || kind == .pipe ? Self.input : last.isEmpty || last == "." || last == ".." ? "folder" : last
  }

  /// The outcome of sending the files.
  struct Sent {
    var files = 0
    var bytes = 0
    /// The things that were passed over, in the plural, with their numbers.
    var passedOver: [(reason: String, count: Int)] = []
    /// The files or entries that a program of the user did not open, with its reasons.
    var undecrypted: [(path: String, reason: String)] = []
  }

  /// Sends all files, and closes the source.
  func send(to program: ImportProgram) throws(Failure) -> Sent {
    var sent = Sent()
    switch kind {
    case .file: try send(descriptor, name, status, to: program, &sent)
    case .pipe: try spool(to: program, &sent)
    case .folder:
      let folder = try SourceFolder(descriptor) { $0 != ".git" }
      while let file = try folder.next() { try send(file.descriptor, file.path, file.status, to: program, &sent) }
      sent.passedOver = folder.passedOver
    case .passStore: try sendStore(by: PGPProgram(), to: program, &sent)
    case .ageStore: try sendStore(by: AgeProgram(), to: program, &sent)
    case .wallet: try sendWallet(to: program, &sent)
    }
    guard sent.files > 0 || !sent.undecrypted.isEmpty else {
      if kind == .wallet { throw Failure(.invalid, "the wallet \(Printable.quoted(path)) has no entry") }
      throw Failure(.invalid, "there is no file in \(Printable.quoted(path))", "name another folder")
    }
    return sent
  }

  // MARK: Files

  /// Sends a regular file in parts, so that it is never whole in memory here.
  private func send(
    _ file: Int32, _ path: String, _ status: stat, to program: ImportProgram, _ sent: inout Sent
  ) throws(Failure) {
    defer { close(file) }
    guard let count = Int(exactly: status.st_size) else { throw Self.tooLarge }
    try Self.count(count, &sent)
    try program.send(.file(path: path, count: count, modified: Int64(status.st_mtim.tv_sec)))
    var rest = count
    while rest > 0 {
      var part = SecretBuffer(capacity: min(rest, ImportCall.longestPart))
      let read = FileInput.read(file, into: &part, atMost: min(rest, ImportCall.longestPart))
      if read < 0, errno == EINTR { continue }
      guard read >= 0 else { throw Failure(.io, "cannot read \(Printable.quoted(path)): \(Output.describe(errno))") }
      guard read > 0 else { throw Failure(.retry, "\(Printable.quoted(path)) changed while it was read", "try again") }
      try program.send(.part, part)
      rest -= read
    }
  }

  /// Reads a pipe to its end, because a file's size goes before its bytes, and sends it.
  private func spool(to program: ImportProgram, _ sent: inout Sent) throws(Failure) {
    defer { close(descriptor) }
    let what = path == "-" ? "standard input" : Printable.text(path)
    let parts = try SpooledParts(descriptor, what)
    try send(parts, Self.input, modified: nil, to: program, &sent)
  }

  func send(
    _ parts: SpooledParts, _ path: String, modified: Int64?, to program: ImportProgram, _ sent: inout Sent
  ) throws(Failure) {
    try Self.count(parts.count, &sent)
    try program.send(.file(path: path, count: parts.count, modified: modified))
    for part in parts.parts { try program.send(.part, part.bytes) }
  }

  // MARK: Limits

  private static func count(_ bytes: Int, _ sent: inout Sent) throws(Failure) {
    sent.files += 1
    sent.bytes += bytes
    guard sent.files <= ImportCall.most.files else {
      throw Failure(.invalid, "there are more than \(ImportCall.most.files) files", "import a folder within it")
    }
    guard sent.bytes <= ImportCall.most.bytes else { throw tooLarge }
  }

  static let tooLarge = Failure(
    .invalid, "the source has more than \(Counted.size(ImportCall.most.bytes))", "import it in parts")
}

/// The bytes of a pipe in parts, each in memory that wipes itself.
struct SpooledParts {
  final class Part {
    let bytes: SecretBuffer

    init(_ bytes: consuming SecretBuffer) { self.bytes = bytes }
  }

  private(set) var parts: [Part] = []
  private(set) var count = 0

  /// Reads a descriptor to its end.
  ///
  /// - Parameter most: the most bytes that are read.
  init(_ descriptor: Int32, _ name: String, most: Int = ImportCall.most.bytes) throws(Failure) {
    var isAtEnd = false
    while !isAtEnd {
      var part = SecretBuffer(capacity: ImportCall.longestPart)
      while part.count < ImportCall.longestPart {
        let read = FileInput.read(descriptor, into: &part, atMost: ImportCall.longestPart - part.count)
        if read < 0, errno == EINTR { continue }
        guard read >= 0 else { throw Failure(.io, "cannot read \(name): \(Output.describe(errno))") }
        isAtEnd = read == 0
        if isAtEnd { break }
      }
      count += part.count
      guard count <= most else { throw Failure(.invalid, "\(name) holds more than \(Counted.size(most))") }
      if part.count > 0 { parts.append(Part(part)) }
    }
  }
}
