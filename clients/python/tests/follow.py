"""Prints what a stream delivers, a JSON object for each message. SIGUSR1 cuts its connection. For
Tests/CandledTests.

    follow.py GATEWAY TOKEN SYMBOL…
"""

import asyncio
import dataclasses
import json
import signal
import sys

import candled


async def main():
    gateway, token, *symbols = sys.argv[1:]
    # The thread that started this may have blocked them.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    async with candled.connect(gateway, token=token or None) as stream:

        def cut():
            if stream._socket is not None:
                stream._socket.transport.abort()

        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, cut)
        await stream.subscribe(prices=symbols, candles=symbols, channels=["minute-complete"])
        async for message in stream:
            fields = {"type": type(message).__name__} | dataclasses.asdict(message)
            print(json.dumps(fields, default=str, ensure_ascii=False), flush=True)


asyncio.run(main())
