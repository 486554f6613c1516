internal import VaultClient
internal import VaultProcess

/// The program `vault-agent`: attends a person's session, and puts the daemon's questions to the person.
public enum AgentProgram {
  private static let name = "vault-agent"

  /// Runs the program; the answer is its exit code (sysexits.h).
  public static func main(_ arguments: [String]) -> Int32 {
    StandardStream.answer(name, "usage: \(name)\n\nPuts the questions of vaultd(8) to a person. See \(name)(8).\n")
  }
}
