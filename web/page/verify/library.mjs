import express from "express";
import { Webhook } from "standardwebhooks";

const app = express();
const webhook = new Webhook(process.env.ROWLOCK_SECRET);

app.post("/webhooks", express.raw({ type: "*/*", limit: "1mb" }), (req, res) => {
  try {
    webhook.verify(req.body.toString(), req.headers);
  } catch {
    return res.status(401).send("wrong signature");
  }
  res.sendStatus(200);
});
