// The secrets of sandboxed programs, which they get from the portal (org.freedesktop.portal.Secret): one for each
// program, with which it encrypts its own data.
extension KeyringAttributes {
  private static let appKey = "app_id"
  private static let schemaKey = "xdg:schema"
  private static let portalSchema = "org.freedesktop.portal.Secret"
  /// The schema that GNOME Keyring gives to items that have none.
  private static let generalSchema = "org.freedesktop.Secret.Generic"

  /// The program that owns the secret in an item with these attributes, if the secret is one of the portal; nil for
  /// other items.
  ///
  /// GNOME Keyring before version 48 gave such an item no schema, so an item with no other attribute counts as well.
  public var portalApp: String? {
    guard let app = self[Self.appKey] else { return nil }
    guard let schema = self[Self.schemaKey] else { return entries.count == 1 ? app : nil }
    if schema.utf8.elementsEqual(Self.portalSchema.utf8) { return app }
    return schema.utf8.elementsEqual(Self.generalSchema.utf8) && entries.count == 2 ? app : nil
  }

  /// Makes the attributes of the secret of a program.
  ///
  /// - Throws: ``ValueError`` for an id that is no attribute.
  public init(portalApp app: String) throws(ValueError) {
    try self.init([(key: Self.appKey, value: app), (key: Self.schemaKey, value: Self.portalSchema)])
  }

  /// Makes the attributes that every secret of a program has, whatever its schema.
  ///
  /// - Throws: ``ValueError`` for an id that is no attribute.
  public init(anyOfPortalApp app: String) throws(ValueError) { try self.init([(key: Self.appKey, value: app)]) }
}
