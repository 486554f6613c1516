internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultWire

// The sources that programs of the user's own open: password stores and wallets.
extension ImportSource {
  /// The names of files that make a folder a password store of pass, and one of passage.
  private static let marks = (pass: ".gpg-id", passage: ".age-recipients")
  /// The most files by which a store of passage is recognized, because it may have no such file.
  private static let examined = 256

  /// The kind of a folder.
  ///
  /// - Parameter format: The format that a person names; nil if none is named.
  static func kind(ofFolder descriptor: Int32, as format: String?) -> Kind {
    func has(_ name: String) -> Bool { unsafe faccessat(descriptor, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 }
    if format == ImportOrigin.passage.rawValue { return .ageStore }
    if has(marks.pass) { return .passStore }
    guard format == nil else { return .folder }
    return has(marks.passage) || isOfAge(descriptor) ? .ageStore : .folder
  }

  /// True if the names of all files of a folder, or of the first of many, end as those of passage do.
  private static func isOfAge(_ descriptor: Int32) -> Bool {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0, let walk = try? SourceFolder(copy, takes: isVisible) else { return false }
    var count = 0
    while count < examined {
      guard let next = try? walk.next() else { break }
      close(next.descriptor)
      guard next.path.hasSuffix(AgeProgram.suffix) else { return false }
      count += 1
    }
    return count > 0
  }

  private static func isVisible(_ name: String) -> Bool { !name.utf8.starts(with: ".".utf8) }

  /// Sends the files of a password store, decrypted.
  func sendStore<Opener: StoreProgram>(by opener: Opener, to program: ImportProgram, _ sent: inout Sent)
    throws(Failure)
  {
    let progress = Progress()
    defer { progress.clear() }
    var others = 0
    let folder = try SourceFolder(descriptor, takes: Self.isVisible)
    while let file = try folder.next() {
      defer { close(file.descriptor) }
      guard file.path.utf8.count > Opener.suffix.utf8.count, file.path.hasSuffix(Opener.suffix) else {
        others += 1
        continue
      }
      progress.show("decrypted \(Counted.text(sent.files, "file")) so far")
      switch try opener.decrypt(file.descriptor, file.path) {
      case .text(let parts):
        try send(parts, file.path, modified: Int64(file.status.st_mtim.tv_sec), to: program, &sent)
      case .failed(let reason): sent.undecrypted.append((file.path, reason))
      }
    }
    sent.passedOver = folder.passedOver
    if others > 0 { sent.passedOver.append(("names that do not end in \(Opener.suffix)", others)) }
    if sent.files == 0, let first = sent.undecrypted.first {
      throw Failure(
        .invalid, "\(Opener.name) decrypts no file of the store: \(first.reason)", "see \(Opener.name)(1)")
    }
  }

  /// Sends the entries of a wallet, each as a file whose path is made of the folder and the name.
  func sendWallet(to program: ImportProgram, _ sent: inout Sent) throws(Failure) {
    let wallet = try WalletProgram(path)
    let progress = Progress()
    defer { progress.clear() }
    for title in try wallet.folders() {
      let entries = try wallet.entries(in: title)
      let folder = try wallet.open(title)
      for entry in entries {
        let name = "\(Self.escaped(title))/\(Self.escaped(entry))"
        guard name.utf8.count <= ImportCall.longestPath else {
          sent.undecrypted.append((name, "the name is longer than \(ImportCall.longestPath) bytes"))
          continue
        }
        progress.show("read \(Counted.text(sent.files, "entry")) so far")
        switch try wallet.read(entry, in: folder) {
        case .text(let parts): try send(parts, name, modified: nil, to: program, &sent)
        case .failed(let reason): sent.undecrypted.append((name, reason))
        }
      }
    }
  }

  /// A name without slashes.
  private static func escaped(_ name: String) -> String {
    PercentEscape.escaped(name) { $0 < 0x80 && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "%") }
  }
}
