internal import ArgumentParser

/// The completions that a shell offers for an argument that is neither one of a few words nor a file.
///
/// The argument parser knows nothing of these: it carries their names as if they were shell commands, and
/// ``CommandShape`` reads them back.
enum Completes: String {
  /// The name of an item, offered one part at a time.
  case item
  /// The name of an item in the trash.
  case trash
  /// The number of a deposit that was kept aside.
  case deposit
  /// The number of a request, or of an approval that can be taken back.
  case request
  /// The number of a prompt of a program that uses the Secret Service.
  case prompt
  /// A folder.
  case folder
  /// A field of the item that the command names.
  case field
  /// `key=value` of an attribute.
  case attribute
  /// `NAME=` and an item's name.
  case variable
  /// A predicate.
  case predicate
  /// An item's name, or a predicate once an operator is typed.
  case itemOrPredicate = "item-or-predicate"
  /// A subject: one that has a grant, or one for a new grant.
  case subject
  /// A subject that has a grant.
  case grantedSubject = "granted-subject"
  /// The pattern of a grant for the subject that the command names.
  case grantedItems = "granted-items"
  /// The name of an item, or the pattern for all items in a folder.
  case pattern
  /// The words of a command.
  case command

  /// The declaration of this completion for an argument.
  var kind: CompletionKind { .shellCommand(rawValue) }
}

/// The names of items that a shell offers while a person types a command.
enum ItemNames {
  static let completion = Completes.item.kind
}
