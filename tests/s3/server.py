#!/usr/bin/env python3
"""tests/s3/server.py DIR PORTFILE [ADDRESS]: a small S3 on loopback, or there, for the tests of libu9-s3.

Buckets are folders of DIR, objects files in them (a key's slashes are slashes). It has GET with Range, PUT (also of a copy),
DELETE, LIST v2 in pages of three, uploads in parts, If-None-Match; path style alone. Each request's signature (SigV4)
is checked, and the hash of its body. The keys are u9-tester and u9-tests-secret. It writes its port into PORTFILE, once it
listens, and a line for each request into DIR/requests: METHOD KEY?QUERY RANGE STATUS.

Faults are asked for by the file DIR/faults, a line each, which is used up line by line by the requests that it fits:

    N METHOD SUBSTRING WHAT     the next N requests of METHOD (or *) whose path or range has SUBSTRING: WHAT is a status (503, 403;
                                301 has a Location where nobody is), `cut` (half of the answer, then the connection is
                                closed), `open` (the same, without a word of how much there is), `lose` (closed before the
                                answer, when all is done), `hang` (no answer, ever), `trickle` (some 1300 bytes of it a
                                second), `all` (without looking at the range), `other` (under another ETag), `vague` (a
                                listing that goes on, and not how), `endless` (one that goes on with what it began with)

Uploads in parts that are not completed stand in DIR/uploads, a line each: KEY ID.
"""

import hashlib
import hmac
import http.server
import os
import socketserver
import sys
import threading
import time
import urllib.parse
import uuid
from xml.sax.saxutils import escape

KEYS = {"u9-tester": "u9-tests-secret"}
PAGE = 3
TAIL = "+/=&"  # of tokens: they are to be encoded
root, portfile = sys.argv[1:3]
lock = threading.Lock()
uploads = {}  # id: (bucket, key, {number: bytes})


def sign(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def etag_of(data):
    return '"' + hashlib.md5(data).hexdigest() + '"'


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *args):
        pass

    # What is asked

    def parse(self):
        path, _, query = self.path.partition("?")
        self.raw_path, self.raw_query = path, query
        parts = urllib.parse.unquote(path).lstrip("/").split("/", 1)
        self.bucket, self.key = parts[0], parts[1] if len(parts) > 1 else ""
        self.query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        self.body = self.rfile.read(int(self.headers.get("content-length") or 0))

    def refusal(self):
        """Why the request is not signed as it has to be; None: it is."""
        auth = self.headers.get("authorization") or ""
        if not auth.startswith("AWS4-HMAC-SHA256 "):
            return "AccessDenied"
        fields = dict(f.strip().split("=", 1) for f in auth[len("AWS4-HMAC-SHA256 ") :].split(","))
        access, date, region, service, end = fields["Credential"].split("/")
        if access not in KEYS or service != "s3" or end != "aws4_request":
            return "InvalidAccessKeyId"
        claimed = self.headers.get("x-amz-content-sha256") or ""
        if claimed != hashlib.sha256(self.body).hexdigest():
            return "XAmzContentSHA256Mismatch"
        names = fields["SignedHeaders"].split(";")
        if not {"host", "x-amz-content-sha256", "x-amz-date"} <= set(names) or names != sorted(names):
            return "SignatureDoesNotMatch"
        for name in self.headers:
            if name.lower().startswith("x-amz-") and name.lower() not in names:
                return "SignatureDoesNotMatch"
        query = "&".join(sorted(self.raw_query.split("&"))) if self.raw_query else ""
        path = urllib.parse.quote(urllib.parse.unquote(self.raw_path), safe="/-._~")
        headers = "".join(f"{n}:{' '.join((self.headers.get(n) or '').split())}\n" for n in names)
        canonical = "\n".join([self.command, path, query, headers, ";".join(names), claimed])
        stamp = self.headers["x-amz-date"]
        text = "\n".join(
            ["AWS4-HMAC-SHA256", stamp, f"{date}/{region}/s3/aws4_request", hashlib.sha256(canonical.encode()).hexdigest()]
        )
        key = sign(sign(sign(sign(("AWS4" + KEYS[access]).encode(), date), region), "s3"), "aws4_request")
        good = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
        return None if hmac.compare_digest(good, fields["Signature"]) else "SignatureDoesNotMatch"

    def fault(self):
        """What is to go wrong with this request, which uses it up."""
        try:
            with open(os.path.join(root, "faults")) as f:
                lines = f.read().splitlines()
        except FileNotFoundError:
            return None
        for i, line in enumerate(lines):
            count, method, text, what = line.split()
            asked = f"{self.path} {self.headers.get('range') or '-'}"
            if int(count) == 0 or method not in ("*", self.command) or text not in asked:
                continue
            lines[i] = f"{int(count) - 1} {method} {text} {what}"
            with open(os.path.join(root, "faults"), "w") as f:
                f.write("".join(line + "\n" for line in lines))
            return what
        return None

    # What is answered

    def answer(self, status, body=b"", headers=()):
        with open(os.path.join(root, "requests"), "a") as f:
            f.write(f"{self.command} {self.path} {self.headers.get('range') or '-'} {status}\n")
        if self.what == "lose":
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, '"other"' if name == "ETag" and self.what == "other" else value)
        self.send_header("Content-Length", str(len(body))) if self.what != "open" else self.send_header("Connection", "close")
        self.end_headers()
        if self.what in ("cut", "open"):
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            self.close_connection = True
            return
        if self.what == "trickle":
            self.slow = body  # when others may go on
        else:
            self.wfile.write(body)

    def refuse(self, status, code):
        text = f"<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>said so</Message></Error>"
        self.answer(status, text.encode(), [("Location", "http://127.0.0.1:1/")] if status == 301 else [])

    def file(self, key=None):
        return os.path.join(root, self.bucket, self.key if key is None else key)

    def load(self):
        try:
            with open(self.file(), "rb") as f:
                return f.read()
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            return None

    def store(self, data):
        os.makedirs(os.path.dirname(self.file()), exist_ok=True)
        with open(self.file() + "\x01", "wb") as f:
            f.write(data)
        os.rename(self.file() + "\x01", self.file())

    # Calls

    def list(self):
        base = os.path.join(root, self.bucket)
        keys = []
        for folder, _, names in os.walk(base):
            keys += [os.path.relpath(os.path.join(folder, n), base) for n in names if "\x01" not in n]
        prefix, after = self.query.get("prefix", ""), self.query.get("continuation-token", "")
        keys = sorted(k for k in keys if k.startswith(prefix) and (not after or k > after[: -len(TAIL)]))
        if self.query.get("delimiter") == "/":
            keys = [k for k in keys if "/" not in k[len(prefix) :]]
        page, more = keys[:PAGE], len(keys) > PAGE
        text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><ListBucketResult>"
        for key in page:
            with open(os.path.join(base, key), "rb") as f:
                data = f.read()
            when = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(os.stat(os.path.join(base, key)).st_mtime))
            text += (
                f"<Contents><Key>{escape(key)}</Key><LastModified>{when}</LastModified>"
                f"<ETag>{escape(etag_of(data), {chr(34): '&quot;'})}</ETag><Size>{len(data)}</Size></Contents>"
            )
        if more and self.what != "vague":
            goes_on = after or "a" if self.what == "endless" else page[-1] + TAIL
            text += f"<NextContinuationToken>{escape(goes_on)}</NextContinuationToken>"
        self.answer(200, (text + f"<IsTruncated>{str(more).lower()}</IsTruncated></ListBucketResult>").encode())

    def tell_uploads(self):
        with open(os.path.join(root, "uploads"), "w") as f:
            f.write("".join(f"{key} {name}\n" for name, (_, key, _) in uploads.items()))

    def list_uploads(self):
        text = "<ListMultipartUploadsResult>"
        for name, (bucket, key, _) in uploads.items():
            if bucket == self.bucket and key.startswith(self.query.get("prefix", "")):
                text += f"<Upload><Key>{escape(key)}</Key><UploadId>{name}</UploadId></Upload>"
        self.answer(200, (text + "</ListMultipartUploadsResult>").encode())

    def get(self):
        data = self.load()
        if data is None:
            return self.refuse(404, "NoSuchKey")
        headers = [("ETag", etag_of(data)), ("Last-Modified", self.date_time_string(os.stat(self.file()).st_mtime))]
        wanted = self.headers.get("range")
        if not wanted or self.what == "all":
            return self.answer(200, data, headers)
        first, last = wanted[len("bytes=") :].split("-")
        first, last = int(first), min(int(last), len(data) - 1)
        if first >= len(data):
            return self.refuse(416, "InvalidRange")
        headers.append(("Content-Range", f"bytes {first}-{last}/{len(data)}"))
        return self.answer(206, data[first : last + 1], headers)

    def put(self):
        if "uploadId" in self.query:
            if self.query["uploadId"] not in uploads:
                return self.refuse(404, "NoSuchUpload")
            uploads[self.query["uploadId"]][2][int(self.query["partNumber"])] = self.body
            return self.answer(200, headers=[("ETag", etag_of(self.body))])
        source = self.headers.get("x-amz-copy-source")
        if source:
            with open(os.path.join(root, urllib.parse.unquote(source).lstrip("/")), "rb") as f:
                self.body = f.read()
        if self.headers.get("if-none-match") == "*" and self.load() is not None:
            return self.refuse(412, "PreconditionFailed")
        self.store(self.body)
        text = f"<CopyObjectResult><ETag>{etag_of(self.body)}</ETag></CopyObjectResult>" if source else ""
        return self.answer(200, text.encode(), [("ETag", etag_of(self.body))])

    def post(self):
        if "uploads" in self.query:
            name = uuid.uuid4().hex + "+/="
            uploads[name] = (self.bucket, self.key, {})
            self.tell_uploads()
            text = f"<InitiateMultipartUploadResult><UploadId>{name}</UploadId></InitiateMultipartUploadResult>"
            return self.answer(200, text.encode())
        if self.query.get("uploadId") not in uploads:
            return self.refuse(404, "NoSuchUpload")
        if self.headers.get("if-none-match") == "*" and self.load() is not None:
            return self.refuse(412, "PreconditionFailed")
        parts = uploads.pop(self.query["uploadId"])[2]
        self.tell_uploads()
        self.store(b"".join(parts[n] for n in sorted(parts)))
        return self.answer(200, b"<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>")

    def delete(self):
        if "uploadId" in self.query:
            uploads.pop(self.query["uploadId"], None)
            self.tell_uploads()
        elif self.load() is not None:
            os.unlink(self.file())
        self.answer(204)

    def call(self):
        refused = self.refusal()
        if self.what and self.what.isdigit():
            code = "SlowDown" if self.what == "503" else "AccessDenied"
            return self.refuse(int(self.what), code)
        if refused:
            return self.refuse(403, refused)
        if not os.path.isdir(os.path.join(root, self.bucket)):
            return self.refuse(404, "NoSuchBucket")
        if self.command == "GET" and self.key == "":
            return self.list_uploads() if "uploads" in self.query else self.list()
        return {"GET": self.get, "PUT": self.put, "POST": self.post, "DELETE": self.delete}[self.command]()

    def serve(self):
        self.parse()
        self.slow = b""
        with lock:
            self.what = self.fault()
        if self.what == "hang":
            time.sleep(3600)  # whoever asked has gone by then
        with lock:
            self.call()
        for at in range(0, len(self.slow), 64):
            self.wfile.write(self.slow[at : at + 64])
            time.sleep(0.05)

    do_GET = do_PUT = do_POST = do_DELETE = serve


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # who asks may be killed
            super().handle_error(request, client_address)


server = Server((sys.argv[3] if len(sys.argv) > 3 else "127.0.0.1", 0), Handler)
with open(portfile + ".new", "w") as f:
    f.write(str(server.server_address[1]))
os.rename(portfile + ".new", portfile)
server.serve_forever()
