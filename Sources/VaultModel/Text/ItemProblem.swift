/// Problems with an item, in words that do not name it: for logs, and for texts beside the item's name.
public enum ItemProblem {
  public static let missing = "there is no such item"
  public static let exists = "there is already an item of this name"
  public static let expired = "the item has expired"
  public static let neverRead = "its key is never read, and only a generated key can replace it"

  public static func noVersion(_ number: Int) -> String { "there is no version \(number)" }
}
