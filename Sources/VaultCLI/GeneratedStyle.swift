internal import ArgumentParser

/// What the daemon draws when it is asked for a new secret.
enum GeneratedStyle: String, ExpressibleByArgument, CaseIterable {
  case password
  case phrase
}
