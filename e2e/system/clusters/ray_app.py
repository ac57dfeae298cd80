"""A chat server in the style of OpenAI on Ray Serve: replicas that count from 0 to `max_tokens`, 20 ms for each token.

usage: python ray_app.py PORT EVENTS TEMP_FOLDER

Each line of the standard input is a JSON object with the arguments of `build`; the application is deployed with them and
the version is printed when all replicas serve it. The server ends with its input. Replicas append what they do to the
file EVENTS, one JSON object a line: `start`, then `begin` and `end` or `cancel` for each request, with Unix milliseconds.
"""

import asyncio
import json
import os
import sys
import time

import ray
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from ray import serve

PORT, EVENTS, TEMP_FOLDER = int(sys.argv[1]), sys.argv[2], sys.argv[3]
MODEL = "ray-counter"
SECONDS_PER_TOKEN = 0.02


def build(version, replicas, max_ongoing, max_queued):
    """The application. FastAPI() is made here: routes of a shared one would stay from deployment to deployment."""
    api = FastAPI()
    events_file, model, pause = EVENTS, MODEL, SECONDS_PER_TOKEN

    def record(event, **fields):
        at = time.time() * 1000
        line = json.dumps({"event": event, "pid": os.getpid(), "version": version, "at": at, **fields})
        with open(events_file, "a") as file:
            file.write(line + "\n")

    def server_sent(value):
        return f"data: {json.dumps(value)}\n\n"

    @serve.deployment(
        num_replicas=replicas,
        max_ongoing_requests=max_ongoing,
        max_queued_requests=max_queued,
        ray_actor_options={"num_cpus": 0.1},
        health_check_period_s=1,
        # A replica that dies is noticed at once. On a busy machine a healthy one may answer late: with a short limit it
        # would be replaced again and again.
        health_check_timeout_s=60,
        graceful_shutdown_wait_loop_s=0.2,
        graceful_shutdown_timeout_s=20,
    )
    @serve.ingress(api)
    class Counter:
        def __init__(self):
            record("start")

        @api.get("/v1/models")
        async def models(self):
            entry = {"id": model, "object": "model", "created": 1, "owned_by": "ray", "max_model_len": 4096}
            return {"object": "list", "data": [entry]}

        @api.post("/v1/chat/completions")
        async def chat(self, request: Request):
            body = await request.json()
            name, count = body["user"], body["max_tokens"]
            record("begin", request=name)
            base = {"id": f"chatcmpl-{name}", "created": int(time.time()), "model": model}
            usage = {"prompt_tokens": 1, "completion_tokens": count, "total_tokens": count + 1}

            async def tokens():
                done = 0
                try:
                    for done in range(count):
                        yield f"{done} "
                        await asyncio.sleep(pause)
                    record("end", request=name)
                except BaseException:
                    record("cancel", request=name, done=done)
                    raise

            async def stream():
                chunk = {**base, "object": "chat.completion.chunk"}
                async for text in tokens():
                    delta = {"role": "assistant", "content": text}
                    yield server_sent({**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
                yield server_sent({**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
                if (body.get("stream_options") or {}).get("include_usage"):
                    yield server_sent({**chunk, "choices": [], "usage": usage})
                yield "data: [DONE]\n\n"

            if body.get("stream"):
                return StreamingResponse(stream(), media_type="text/event-stream")
            message = {"role": "assistant", "content": "".join([text async for text in tokens()])}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            return {**base, "object": "chat.completion", "choices": [choice], "usage": usage}

    return Counter.bind()


def main():
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=100_000_000,
        _temp_dir=TEMP_FOLDER,
    )
    serve.start(http_options={"host": "127.0.0.1", "port": PORT})
    for line in sys.stdin:
        settings = json.loads(line)
        serve.run(build(**settings))
        print(json.dumps({"ready": settings["version"]}), flush=True)
    serve.shutdown()
    ray.shutdown()


main()
