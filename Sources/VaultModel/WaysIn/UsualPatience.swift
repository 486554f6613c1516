/// The time that a call waits for a person whom an agent asks, unless the call gives another.
package enum UsualPatience {
  package static let milliseconds = 120_000
}
