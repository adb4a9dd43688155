import os
from flask import Flask, request
from standardwebhooks import Webhook, WebhookVerificationError

app = Flask(__name__)
webhook = Webhook(os.environ["ROWLOCK_SECRET"])

@app.post("/webhooks")
def receive():
    try:
        webhook.verify(request.get_data(), request.headers)
    except WebhookVerificationError:
        return "wrong signature", 401
    return "", 200
