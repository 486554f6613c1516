internal import VaultModel

/// Keeps the time of the last backup over a restart of the daemon: `last-backup` beside the store, mode 0600.
///
/// It names the vault, so that it says nothing about another one that has taken the store's place. A file that cannot be
/// believed counts as none: then no backup is known. A rekey keeps both the vault's id and the file.
struct BackupMark {
  private static let limit = 256
  private let path: String

  init(directory: String) { path = directory + "/last-backup" }

  /// The time of the last backup of that vault, Unix seconds; nil where none is known.
  func time(of vaultID: [UInt8]) -> Int64? {
    guard let text = try? TextFile.readOwn(path, limit: Self.limit) else { return nil }
    let words = text.split(whereSeparator: \.isWhitespace)
    guard words.count == 2, words[0] == vaultID.hex, let time = Int64(words[1]), time > 0 else { return nil }
    return time
  }

  func put(_ time: Int64, of vaultID: [UInt8]) throws(SystemError) {
    try TextFile.replace(path, with: "\(vaultID.hex) \(time)\n")
  }
}
