"""Answers for clients of HTTP/1.0, which know no chunks: what has no length ends with the connection."""

from typing import Any

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle


def without_chunks(app: Any, cycle: RequestResponseCycle) -> Any:
    """`app`, answering so; uvicorn closes such a connection after its one answer."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        plain = False

        async def send_plain(message: Any) -> None:
            nonlocal plain
            if message["type"] == "http.response.start":
                plain = all(name.lower() != b"content-length" for name, _ in message["headers"])
                if plain:
                    cycle.chunked_encoding = False
            elif plain:
                cycle.expected_content_length = len(message.get("body", b""))
            await send(message)

        await app(scope, receive, send_plain)

    return answer
