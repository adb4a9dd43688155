import base64, time
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

# verify tells whether a request came from Rowlock.
# It needs the body as it came, in bytes, and the endpoint's public key.
def verify(public, headers, body):
    id = headers.get("webhook-id", "")
    at = headers.get("webhook-timestamp", "")
    if not (at.isdecimal() and len(at) < 12 and abs(time.time() - int(at)) <= 300):
        return False
    key = base64.b64decode(public.removeprefix("whpk_"))
    if len(key) != 32:
        return False
    signed = f"{id}.{at}.".encode() + body
    for text in headers.get("webhook-signature", "").split(" "):
        if text.startswith("v1a,"):
            try:
                Ed25519PublicKey.from_public_bytes(key).verify(base64.b64decode(text[4:]), signed)
                return True
            except (InvalidSignature, ValueError):
                pass
    return False
