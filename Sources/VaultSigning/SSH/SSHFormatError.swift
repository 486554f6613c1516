/// The reason that bytes do not have the form of SSH's data. The text quotes none of the bytes.
public struct SSHFormatError: Error, Hashable, Sendable {
  public let reason: String

  package init(_ reason: String) { self.reason = reason }
}
