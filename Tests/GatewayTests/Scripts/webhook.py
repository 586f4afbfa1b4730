"""Verifies a delivery with the lines of docs/gateway.md; also with a body that was changed.

webhook.py SECRET ID TIMESTAMP SIGNATURE BODY"""

import pathlib
import re
import sys

page = pathlib.Path(__file__).parents[3] / "docs" / "gateway.md"
lines = re.search(r"(?m)^(    import base64, hmac, time\n(    .*\n)+)", page.read_text()).group(1)
exec(re.sub(r"(?m)^    ", "", lines))
secret, identifier, timestamp, signature, body = sys.argv[1:]
headers = {
    "webhook-id": identifier, "webhook-timestamp": timestamp, "webhook-signature": signature,
}
print(is_genuine(secret, headers, body.encode()))  # noqa: F821
print(is_genuine(secret, headers, body.encode() + b" "))  # noqa: F821
