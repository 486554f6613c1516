/// A protocol in which another program asks for credentials: its words and its input in, its answer out.
///
/// A helper has no rule of its own: what it reads, stores and erases are items, of the folder that is called like it, and the
/// daemon decides and records what it does as it does for `vault get`.
protocol CredentialHelper: SendableMetatype {
  /// The protocol's name, as in `vault helper git`.
  static var name: String { get }
  /// The names of programs that are links to `vault` and mean this protocol.
  static var links: [String] { get }
  /// The programs that speak it, in a few words.
  static var programs: String { get }
  /// The text of `vault helper NAME --help`: what to write into the other program's settings.
  static var guide: String { get }
  /// True when a person writes the words, so that options may stand behind them; a program's words are no options.
  static var takesTypedWords: Bool { get }

  /// Answers one run.
  ///
  /// - Throws: ``Failure``, or an exit code behind the protocol's own error.
  static func run(_ call: HelperCall) throws
}

extension CredentialHelper {
  static var takesTypedWords: Bool { false }
}

/// All protocols.
enum Helpers {
  static let all: [any CredentialHelper.Type] = [
    GitHelper.self, DockerHelper.self, KeyringHelper.self, CargoHelper.self, TerraformHelper.self, AWSHelper.self,
    KubectlHelper.self, GCPHelper.self, PasswordFileHelper.self,
  ]

  /// The protocol of that name.
  static func named(_ name: String) -> (any CredentialHelper.Type)? { all.first { $0.name == name } }

  /// The protocol that a link of that name means.
  static func linked(_ name: String) -> (any CredentialHelper.Type)? { all.first { $0.links.contains(name) } }
}
