/// The beginning of a Python program that calls the daemon whose socket is its first argument.
///
/// `connect()` makes a connection; `send(client, method, …)` sends a call over it; `answer(client)` returns the next
/// reply's parameters, or an error's name and reason; `call` sends and returns the answer.
enum VarlinkScript {
  static let prelude = """
    import json, os, socket, sys
    rest = {}
    def connect():
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(60)
        client.connect(sys.argv[1])
        return client
    def answer(client):
        text = rest.get(client, b"")
        while b"\\0" not in text:
            part = client.recv(65536)
            assert part, "the connection has ended"
            text += part
        message, rest[client] = text.split(b"\\0", 1)
        message = json.loads(message)
        if "error" in message:
            reason = message.get("parameters", {}).get("reason")
            return message["error"].split(".")[-1] + (" " + reason if reason else "")
        return message["parameters"]
    def send(client, method, more=False, **parameters):
        message = {"method": "io.vaultd.Vault." + method, "parameters": parameters, "more": more}
        client.sendall(json.dumps(message).encode() + b"\\0")
    def call(client, method, more=False, **parameters):
        send(client, method, more, **parameters)
        return answer(client)

    """
}
