import { createHmac, timingSafeEqual } from "node:crypto";

// verify tells whether a request came from Rowlock.
// It needs the body as it came, a Buffer, and the endpoint's secret.
export function verify(secret, headers, body) {
  const id = headers["webhook-id"], at = headers["webhook-timestamp"];
  if (!(Math.abs(Date.now() / 1000 - Number(at)) <= 300)) return false;
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  if (!key.length) return false;
  const mac = createHmac("sha256", key).update(`${id}.${at}.`).update(body);
  const want = Buffer.from("v1," + mac.digest("base64"));
  return (headers["webhook-signature"] ?? "").split(" ").some((text) => {
    const got = Buffer.from(text);
    return got.length === want.length && timingSafeEqual(got, want);
  });
}
