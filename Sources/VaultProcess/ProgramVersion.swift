/// The version of all programs, which are released together.
public enum ProgramVersion {
  public static let text = "0.1.0"
}
