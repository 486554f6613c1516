internal import VaultBytes
internal import VaultModel

/// KDE's kwallet-query(1), which asks the wallet daemon of the user's session for the entries of a wallet. The daemon
/// asks for the password of the wallet if it is closed.
///
/// Its output is that of src/runtime/kwallet-query/src/querydriver.cpp in KDE/kwallet. Messages also go to standard
/// output. Up to version 5.103 at least, the exit code is 0 even if an entry cannot be read, so that only the text
/// tells a message from a password.
struct WalletProgram {
  static let name = "kwallet-query"
  /// The most bytes of an entry, and of a list of names.
  private static let longest = (entry: 16 << 20, list: 16 << 20)
  /// The name of an entry that no wallet has.
  private static let missing = "vault asks for an entry that is not there (6f0d0f0c5b1e)"

  /// A folder of the wallet.
  struct Folder {
    let name: String
    /// The output for ``WalletProgram/missing``; nil if the exit code tells that an entry cannot be read.
    fileprivate let refusal: String?
  }

  private let path: String
  private let wallet: String

  /// Finds the program.
  ///
  /// - Parameter wallet: the name of the wallet.
  init(_ wallet: String) throws(Failure) {
    guard let path = Tool.find(Self.name) else {
      throw Failure(
        .unavailable, "\(Self.name) is not installed, which reads a wallet of KDE", "install libkf5wallet-bin")
    }
    (self.path, self.wallet) = (path, wallet)
  }

  /// The names of all folders. With an empty folder, the program lists them, and below each of them, after a tab, its
  /// entries or those of another one; these are asked for folder by folder.
  func folders() throws(Failure) -> [String] {
    var seen: Set<String> = []
    return try list("").filter { !$0.utf8.starts(with: "\t".utf8) && seen.insert($0).inserted }
  }

  /// The names of the entries in a folder.
  func entries(in folder: String) throws(Failure) -> [String] { try list(folder) }

  /// Begins to read the entries of a folder.
  func open(_ name: String) throws(Failure) -> Folder {
    let run = try run(["--read-password=\(Self.missing)"], name, "a message", most: Self.longest.entry)
    return Folder(name: name, refusal: run.isDone ? run.output.map(Self.text) : nil)
  }

  private func list(_ folder: String) throws(Failure) -> [String] {
    let run = try run(["--list-entries"], folder, "the list of entries", most: Self.longest.list)
    guard run.isDone, let parts = run.output else {
      throw Failure(
        .unavailable, "\(Self.name) does not open the wallet \(Printable.quoted(wallet)): \(Self.reason(run))",
        "see \(Self.name)(1); the wallet may have another name, and it needs the session of KDE's wallet daemon")
    }
    return Self.text(parts).utf8.split(separator: 0x0A).map { String(Substring($0)) }
  }

  /// Reads an entry.
  func read(_ entry: String, in folder: Folder) throws(Failure) -> OpenedEntry {
    let run = try run(["--read-password=\(entry)"], folder.name, "the entry", most: Self.longest.entry)
    guard let parts = run.output else { return .failed("it has more than \(Counted.size(Self.longest.entry))") }
    guard run.isDone, !Self.isRefusal(parts, of: entry, in: folder) else { return .failed(Self.reason(run)) }
    return .text(parts)
  }

  /// True if an output is the message for an entry that cannot be read, with a period at its end or without one.
  private static func isRefusal(_ parts: SpooledParts, of entry: String, in folder: Folder) -> Bool {
    guard let refusal = folder.refusal, !refusal.isEmpty, parts.parts.count == 1 else { return false }
    var text = Array(refusal.replacing(missing, with: entry).utf8)
    if parts.isEqual(to: text) { return true }
    guard text.suffix(2).elementsEqual(".\n".utf8) else { return false }
    text.remove(at: text.count - 2)
    return parts.isEqual(to: text)
  }

  private func run(_ mode: [String], _ folder: String, _ what: String, most: Int) throws(Failure) -> CapturedRun {
    try CapturedRun([path] + mode + ["--folder=\(folder)", "--", wallet], input: nil, what: what, most: most)
  }

  /// The message of a run that failed.
  private static func reason(_ run: CapturedRun) -> String {
    let lines = run.output.map { text($0).utf8.split(separator: 0x0A).map { String(Substring($0)) } } ?? []
    let message = lines.first ?? run.messages.last ?? "\(name) failed"
    return Printable.text(message.hasSuffix(".") ? String(message.dropLast()) : message)
  }

  private static func text(_ parts: SpooledParts) -> String {
    parts.parts.reduce(into: "") { text, part in
      part.bytes.withBytes { bytes in
        let bytes = Span<UInt8>(_bytes: bytes)
        text += String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
      }
    }
  }
}

extension SpooledParts {
  /// True if the bytes are those of a short text.
  fileprivate func isEqual(to text: [UInt8]) -> Bool {
    guard count == text.count, let part = parts.first, part.bytes.count == count else { return false }
    return part.bytes.withBytes { bytes in
      let bytes = Span<UInt8>(_bytes: bytes)
      return bytes.indices.allSatisfy { bytes[$0] == text[$0] }
    }
  }
}
