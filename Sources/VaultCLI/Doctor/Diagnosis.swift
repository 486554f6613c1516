internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The result of one check of `vault doctor`.
struct Diagnosis: Equatable {
  enum Level: String { case ok, warn, fail }

  let check: String
  let level: Level
  let text: String
  /// The remedy.
  let fix: String?

  static func ok(_ check: String, _ text: String) -> Diagnosis {
    Diagnosis(check: check, level: .ok, text: text, fix: nil)
  }

  static func warn(_ check: String, _ text: String, fix: String?) -> Diagnosis {
    Diagnosis(check: check, level: .warn, text: text, fix: fix)
  }

  static func fail(_ check: String, _ text: String, fix: String?) -> Diagnosis {
    Diagnosis(check: check, level: .fail, text: text, fix: fix)
  }

  /// The result in a line for a person.
  var line: String {
    let mark =
      switch level {
      case .ok: Style.green("ok  ")
      case .warn: Style.yellow("warn")
      case .fail: Style.red("fail")
      }
    return "\(mark)  \(Printable.text(check)): \(Printable.text(text))" + (fix.map { "; \(Hint.text($0))" } ?? "")
  }

  func add(to object: inout JSONBuilder) {
    object.add("check", check)
    object.add("level", level.rawValue)
    object.add("text", text)
    object.add("fix", fix)
  }
}
