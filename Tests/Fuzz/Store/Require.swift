/// Ends the program with a message unless a condition holds. The precondition of an optimized build prints no message.
func require(_ condition: Bool, _ message: @autoclosure () -> String) { if !condition { fatalError(message()) } }
