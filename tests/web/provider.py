"""A small OpenID Connect provider: it describes itself, wants PKCE, and signs what it says."""

from __future__ import annotations

import hashlib
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import uvicorn
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import RedirectResponse
from joserfc import jwt
from joserfc.jwk import RSAKey

from tracker.web.app import listening_socket

__all__ = ["CLIENT", "SECRET", "Provider", "provided"]

CLIENT, SECRET = "tracker", "a secret of the client"


@dataclass
class Provider:
    """The provider, and what it says of whoever signs in.

    Attributes:
        issuer: its address.
        claims: who signs in, as it tells.
        wrong: claims of its token that it gets wrong.
        asked: the authorizations that are under way, by their code.
    """

    issuer: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    wrong: dict[str, Any] = field(default_factory=dict)
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "k"}))
    signs_with: RSAKey | None = None
    asked: dict[str, dict[str, str]] = field(default_factory=dict)

    def app(self) -> FastAPI:
        app = FastAPI()

        @app.get("/.well-known/openid-configuration")
        def describe() -> dict[str, Any]:
            return {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/jwks",
                "id_token_signing_alg_values_supported": ["RS256"],
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
            }

        @app.get("/jwks")
        def keys() -> dict[str, Any]:
            return {"keys": [self.key.as_dict(private=False)]}

        app.add_api_route("/authorize", self._authorize)
        app.add_api_route("/token", self._token, methods=["POST"], response_model=None)
        return app

    def _authorize(self, request: Request) -> Any:
        asked = dict(request.query_params)
        if asked["code_challenge_method"] != "S256" or asked["client_id"] != CLIENT:
            raise HTTPException(400)
        code = f"code {len(self.asked)}"
        self.asked[code] = asked
        back = urlencode({"code": code, "state": asked["state"]})
        return RedirectResponse(f"{asked['redirect_uri']}?{back}")

    async def _token(self, request: Request) -> dict[str, Any]:
        form = await request.form()
        asked = self.asked.pop(str(form["code"]))
        proof = hashlib.sha256(str(form["code_verifier"]).encode()).digest()
        if urlsafe_b64encode(proof).decode().rstrip("=") != asked["code_challenge"]:
            raise HTTPException(400)
        now = int(time.time())
        told = {
            "iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 60,
            "nonce": asked["nonce"], **self.claims, **self.wrong,
        }  # fmt: skip
        signed = jwt.encode({"alg": "RS256", "kid": "k"}, told, self.signs_with or self.key)
        return {"access_token": "x", "token_type": "Bearer", "expires_in": 60, "id_token": signed}


@contextmanager
def provided() -> Iterator[Provider]:
    """Serve a provider on a free port of this machine."""
    provider = Provider()
    with listening_socket("127.0.0.1", 0) as opened:
        provider.issuer = f"http://127.0.0.1:{opened.getsockname()[1]}"
        server = uvicorn.Server(uvicorn.Config(provider.app(), log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
        thread.start()
        try:
            yield provider
        finally:
            server.should_exit = True
            thread.join()
