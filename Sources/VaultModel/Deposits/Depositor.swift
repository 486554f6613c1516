/// The process that left a deposit, as far as grants may know it: what it may do is decided anew when the deposit is taken in.
public struct Depositor: Hashable, Sendable {
  public var uid: UInt32
  /// At most ``mostGroups``.
  public var groups: [UInt32]
  /// The unit that grants know it by.
  public var unit: String?
  /// The file that it ran, where that counts.
  public var executable: String?
  /// The SHA-256 of that file in hexadecimal, where that counts.
  public var digest: String?
  /// True when it was an administrator.
  public var isAdministrator: Bool
  /// The caller as it is recorded as the writer of a version.
  public var author: String

  /// More groups than a process can have.
  public static let mostGroups = 65_536
  /// The longest text of it in bytes.
  public static let longestText = 4096

  public init(
    uid: UInt32, groups: [UInt32], unit: String? = nil, executable: String? = nil, digest: String? = nil,
    isAdministrator: Bool, author: String
  ) {
    (self.uid, self.groups, self.unit) = (uid, groups, unit)
    (self.executable, self.digest) = (executable, digest)
    (self.isAdministrator, self.author) = (isAdministrator, author)
  }
}
