internal import ArgumentParser

/// The kinds of secrets that the daemon draws when it is asked for a new one.
enum GeneratedStyle: String, ExpressibleByArgument, CaseIterable {
  case password
  case phrase
}
