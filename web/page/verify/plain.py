import base64, hashlib, hmac, time

# verify tells whether a request came from Rowlock.
# It needs the body as it came, in bytes, and the endpoint's secret.
def verify(secret, headers, body):
    id = headers.get("webhook-id", "")
    at = headers.get("webhook-timestamp", "")
    if not (at.isdecimal() and len(at) < 12 and abs(time.time() - int(at)) <= 300):
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    if not key:
        return False
    signed = f"{id}.{at}.".encode() + body
    mac = hmac.new(key, signed, hashlib.sha256).digest()
    want = b"v1," + base64.b64encode(mac)
    signatures = headers.get("webhook-signature", "").encode().split(b" ")
    return any([hmac.compare_digest(got, want) for got in signatures])
