/// The reason why bytes are not what SSH writes. The text quotes none of them.
public struct SSHFormatError: Error, Hashable, Sendable {
  public let reason: String

  init(_ reason: String) { self.reason = reason }
}
