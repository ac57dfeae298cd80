"""Speaks and recognises a text as Home Assistant does: over the Wyoming protocol, with wyoming-openai in front of the gateway."""

import asyncio
import json
import subprocess
import sys

from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.info import Describe, Info
from wyoming.tts import Synthesize, SynthesizeVoice

URL, KEY, PORT, TEXT = sys.argv[1:5]
LIMIT_S = 60
VOICE = SynthesizeVoice(name="alloy")


def serve(key, port):
    both = [["--%s-openai-url" % each, URL + "/v1", "--%s-openai-key" % each, key, "--%s-models" % each, each] for each in ("stt", "tts")]
    command = [sys.executable, "-m", "wyoming_openai", "--uri", "tcp://127.0.0.1:%d" % port, "--tts-voices", "alloy"]
    return subprocess.Popen(command + both[0] + both[1], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


async def connected(port):
    while True:
        client = AsyncTcpClient("127.0.0.1", port)
        try:
            await client.connect()
            return client
        except OSError:
            await asyncio.sleep(0.2)


async def read(client, kind):
    """The next event of a kind, and those before it."""
    before = []
    while True:
        event = await client.read_event()
        if event is None or Error.is_type(event.type):
            raise RuntimeError("no %s: %s" % (kind.__name__, event))
        if kind.is_type(event.type):
            return kind.from_event(event), before
        before.append(event)


async def talk(port):
    client = await connected(port)
    await client.write_event(Describe().event())
    info, _ = await read(client, Info)
    await client.write_event(Synthesize(text=TEXT, voice=VOICE).event())
    _, events = await read(client, AudioStop)
    chunks = [AudioChunk.from_event(event) for event in events if AudioChunk.is_type(event.type)]
    first = chunks[0]
    shape = {"rate": first.rate, "width": first.width, "channels": first.channels}
    ear = await connected(port)
    await ear.write_event(Transcribe(name="stt").event())
    await ear.write_event(AudioStart(**shape).event())
    for chunk in chunks:
        await ear.write_event(AudioChunk(audio=chunk.audio, **shape).event())
    await ear.write_event(AudioStop().event())
    transcript, _ = await read(ear, Transcript)
    models = [model.name for program in info.asr for model in program.models]
    voices = [voice.name for program in info.tts for voice in program.voices]
    return {"models": models, "voices": voices, "transcript": transcript.text}


async def refused(port):
    client = await connected(port)
    await client.write_event(Synthesize(text=TEXT, voice=VOICE).event())
    while await client.read_event() is not None:
        pass


def main():
    server = serve(KEY, int(PORT))
    try:
        found = asyncio.run(asyncio.wait_for(talk(int(PORT)), LIMIT_S))
    except BaseException:
        server.kill()
        print(server.communicate()[0])
        raise
    server.kill()
    wrong = serve("not-a-key-of-this-gateway", int(PORT) + 1)
    try:
        asyncio.run(asyncio.wait_for(refused(int(PORT) + 1), 10))
    except (TimeoutError, OSError):
        pass
    wrong.kill()
    found["wrong_key_in_log"] = "This key is not valid" in wrong.communicate()[0]
    print(json.dumps(found))


main()
