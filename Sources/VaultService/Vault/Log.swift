/// The journal. It never contains the name of an item or a secret.
package struct Log {
  package enum Level {
    case info, warning, error
  }

  private let write: (Level, String) -> Void

  package init(_ write: @escaping (Level, String) -> Void) { self.write = write }

  package func info(_ text: String) { write(.info, text) }
  package func warning(_ text: String) { write(.warning, text) }
  package func error(_ text: String) { write(.error, text) }
}
