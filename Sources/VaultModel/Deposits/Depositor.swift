/// The process that left a deposit, described as grants need it: its rights are decided anew when the
/// deposit is taken in.
public struct Depositor: Hashable, Sendable {
  public var uid: UInt32
  /// The groups, at most ``mostGroups``.
  public var groups: [UInt32]
  /// The unit by which grants know the process.
  public var unit: String?
  /// The executable file of the process, if grants consider it.
  public var executable: String?
  /// The SHA-256 of that file in hexadecimal, if grants consider it.
  public var digest: String?
  /// True if the process was an administrator.
  public var isAdministrator: Bool
  /// The text of the caller, which is recorded as the writer of a version.
  public var author: String

  /// A number of groups that no process exceeds.
  public static let mostGroups = 65_536
  /// The longest text of a field in bytes.
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
