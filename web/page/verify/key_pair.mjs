import { createPublicKey, verify as verifySignature } from "node:crypto";

// verify tells whether a request came from Rowlock.
// It needs the body as it came, a Buffer, and the endpoint's public key.
export function verify(publicKey, headers, body) {
  const id = headers["webhook-id"], at = headers["webhook-timestamp"];
  if (!(Math.abs(Date.now() / 1000 - Number(at)) <= 300)) return false;
  const x = Buffer.from(publicKey.replace("whpk_", ""), "base64");
  if (x.length !== 32) return false;
  const key = createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "Ed25519", x: x.toString("base64url") } });
  const signed = Buffer.concat([Buffer.from(`${id}.${at}.`), body]);
  return (headers["webhook-signature"] ?? "").split(" ").some((text) => {
    const got = Buffer.from(text.slice(4), "base64");
    return text.startsWith("v1a,") && got.length === 64 && verifySignature(null, signed, key, got);
  });
}
