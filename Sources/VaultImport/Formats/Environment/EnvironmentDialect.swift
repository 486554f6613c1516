internal import VaultBytes
internal import VaultWire

/// A way in which programs read files of variables.
enum EnvironmentDialect: CaseIterable {
  /// The way of python-dotenv: values between quotes, escapes between them, and comments after a blank. docker compose
  /// and `vault run --env-file` read nearly everything in the same way.
  case dotenv
  /// The way of JavaScript's dotenv (github.com/motdotla/dotenv) and, but for rare values, of `node --env-file`: values
  /// between quotes, among them backquotes, and comments after any other value.
  case script
  /// The way of `docker run --env-file` (docker/cli, opts/file.go): everything after the `=` as it is.
  case docker
  /// The way of systemd's `EnvironmentFile=` (systemd.exec(5); basic/env-file.c): quotes at the beginning of
  /// a value and after other quotes, backslashes outside quotes as escapes, lines that go on after a backslash, and
  /// comments in lines of their own.
  case systemd

  /// The difference of another program's reading, after "it".
  var difference: String {
    switch self {
    case .dotenv: "is read otherwise by python-dotenv: it takes quotes away and ends a value at a comment"
    case .script:
      "is read otherwise by JavaScript's dotenv and `node --env-file`: any # ends a value without quotes, backquotes "
        + "are quotes, and quotes need no escapes"
    case .docker: "is read otherwise by `docker run --env-file`: quotes, escapes and comments belong to the value"
    case .systemd: "is read otherwise by systemd's EnvironmentFile=, which has its own rules for quotes and comments"
    }
  }

  /// Reads all variables of a text, as far as they can be read.
  func variables(_ file: Source.File) throws(ImportFailure) -> EnvironmentText {
    switch self {
    case .dotenv:
      var parser = DotenvParser(file.bytes)
      return parser.readAll()
    case .script:
      var parser = ScriptDotenvParser(file.bytes)
      return parser.readAll()
    case .docker: return EnvironmentText(docker: try file.lines())
    case .systemd:
      var parser = SystemdEnvironmentParser(file.bytes)
      return try parser.readAll()
    }
  }
}

/// The variables of a file.
struct EnvironmentText {
  struct Variable {
    let name: String
    /// The value; nil for a variable whose value comes from the environment.
    let value: [UInt8]?
    /// The line in which the variable begins.
    let line: Int
  }

  /// A statement that programs pass over because they cannot read it.
  struct Refused {
    /// The line in which the statement begins.
    let line: Int
    let reason: String
    /// The bytes of the statement.
    let size: Int
  }

  var variables: [Variable] = []
  var refused: [Refused] = []
  /// The bytes of all comments.
  var comments = 0
  /// The failure at the first line that cannot be read; nil if all lines can.
  var failure: ImportFailure?

  init() {}

  /// Reads a text as docker does.
  init(docker lines: TextLines) {
    for line in lines {
      // docker leaves out blanks before the name only.
      let content = line.bytes.drop { $0.isBlank }
      guard let first = content.first else { continue }
      if first == UInt8(ascii: "#") {
        comments += content.count
        continue
      }
      let parts = content.divided(at: UInt8(ascii: "="))
      let name = (parts?.0 ?? content).text
      guard !name.isEmpty, !name.contains(where: { $0 == " " || $0 == "\t" }) else {
        failure =
          failure
          ?? ImportFailure(.damaged, "line \(line.number): it does not begin with the name of a variable")
        continue
      }
      variables.append(Variable(name: name, value: parts.map { Array($0.1) }, line: line.number))
    }
  }
}
