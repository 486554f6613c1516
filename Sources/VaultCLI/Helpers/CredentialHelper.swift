/// A protocol in which another program asks for credentials: it gives words and input, and gets an answer.
///
/// A helper has no rule of its own: it reads, stores and erases items of the folder that has the helper's name. The
/// daemon decides on each access and records it, as it does for `vault get`.
protocol CredentialHelper: SendableMetatype {
  /// The protocol's name, as in `vault helper git`.
  static var name: String { get }
  /// The names of links to `vault` that select this protocol.
  static var links: [String] { get }
  /// The programs that speak the protocol, in a few words.
  static var programs: String { get }
  /// The text of `vault helper NAME --help`: the settings that the other program needs.
  static var guide: String { get }
  /// True if a person writes the words in a setting, so that options of `vault` may follow them. A program's own words
  /// are never options.
  static var takesTypedWords: Bool { get }

  /// Answers one run.
  ///
  /// - Throws: ``Failure``, or an exit code after the protocol's own error was written.
  static func run(_ call: HelperCall) throws
}

extension CredentialHelper {
  static var takesTypedWords: Bool { false }
}

/// The list of all protocols.
enum Helpers {
  static let all: [any CredentialHelper.Type] = [
    GitHelper.self, DockerHelper.self, KeyringHelper.self, CargoHelper.self, TerraformHelper.self, AWSHelper.self,
    KubectlHelper.self, GCPHelper.self, PasswordFileHelper.self,
  ]

  /// Returns the protocol of that name; nil if there is none.
  static func named(_ name: String) -> (any CredentialHelper.Type)? { all.first { $0.name == name } }

  /// Returns the protocol that a link of that name selects; nil if there is none.
  static func linked(_ name: String) -> (any CredentialHelper.Type)? { all.first { $0.links.contains(name) } }
}
