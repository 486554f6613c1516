internal import ArgumentParser

/// What a shell offers for an argument, where that is neither one of a few words nor a file.
///
/// The argument parser knows nothing of these: it carries their names as if they were commands of a shell, and
/// ``CommandShape`` reads them back.
enum Completes: String {
  /// The name of an item, a part at a time.
  case item
  /// The name of an item in the trash.
  case trash
  /// The number of a deposit that was kept aside.
  case deposit
  /// The number of a request, or of an approval where one can be taken back.
  case request
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
  /// The words of a command.
  case command

  /// The way in which it is written beside an argument.
  var kind: CompletionKind { .shellCommand(rawValue) }
}

/// The names of items that a shell offers while a command is typed.
enum ItemNames {
  static let completion = Completes.item.kind
}
