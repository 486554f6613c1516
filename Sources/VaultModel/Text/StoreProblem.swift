/// Problems of the store that both ends of the socket recognize by their text.
public enum StoreProblem {
  /// The file system has no room for a change.
  public static let diskFull = "cannot write vault.db: disk full"
}
