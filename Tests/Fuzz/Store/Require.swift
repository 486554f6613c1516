/// Ends the program with a message unless a condition holds. An optimized build's precondition says nothing.
func require(_ condition: Bool, _ message: @autoclosure () -> String) { if !condition { fatalError(message()) } }
