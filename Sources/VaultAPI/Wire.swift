/// The values that travel: one type per type, parameter list and reply of io.vaultd.Vault, named as its definition
/// names them (``VaultInterface/description``).
///
/// Text and numbers are plain Swift values. A secret (`value`, `data`, `answer`) is not: read, it is a node that
/// stays in its frame until ``Frame/content(_:_:)`` copies it out; written, it is lent to a call of its own.
public enum Wire {}
