internal import VaultBytes
internal import VaultModel

/// The file `last-backup` beside the store, mode 0600, which keeps the time of the last backup over a restart of the
/// daemon.
///
/// The file names the vault, so that it says nothing about another vault that has taken the store's place. If the file
/// cannot be trusted, no backup is known. A rekey keeps both the vault's id and the file.
struct BackupMark {
  private static let limit = 256
  private let path: String

  init(directory: String) { path = directory + "/last-backup" }

  /// The time of the last backup of that vault, in Unix seconds; nil if none is known.
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
