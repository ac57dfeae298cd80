"""Calls a gateway with the released SDKs. Arguments: SDK, base URL without /v1, key. Prints one JSON object of results."""

import json
import sys
import time

TOOL = {
    "name": "get_time",
    "description": "The time of a zone",
    "parameters": {"type": "object", "properties": {"zone": {"type": "string"}}},
}
USER = {"role": "user", "content": "hi"}


def seconds_until_error(call):
    """Returns the class of the error of a call and how long it took."""
    started = time.monotonic()
    try:
        call()
    except Exception as error:  # noqa: BLE001
        return {"error": type(error).__name__, "seconds": time.monotonic() - started, "text": str(error)}
    return {"error": None}


def openai_calls(base, key):
    from openai import OpenAI

    client = OpenAI(base_url=f"{base}/v1", api_key=key)
    chat = client.chat.completions
    tools = [{"type": "function", "function": TOOL}]
    first = chat.create(model="agent", messages=[USER], tools=tools, temperature=0)
    call = first.choices[0].message.tool_calls[0]
    history = [USER, first.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "noon"}]
    last = chat.create(model="agent", messages=history, tools=tools, temperature=0)
    with chat.stream(model="agent", messages=[USER], temperature=0) as stream:
        streamed = stream.until_done().get_final_completion()
    response = client.responses.create(model="agent", input="hi", temperature=0)
    with client.responses.stream(model="agent", input="hi", temperature=0) as stream:
        final = stream.get_final_response()
    wrong = OpenAI(base_url=f"{base}/v1", api_key="wrong")
    return {
        "tool": call.function.name,
        "arguments": json.loads(call.function.arguments),
        "after_tool": last.choices[0].message.content,
        "streamed": streamed.choices[0].message.content,
        "response": response.output_text,
        "response_streamed": final.output_text,
        "completion": client.completions.create(model="agent", prompt="a", max_tokens=3).choices[0].text,
        "dimensions": len(client.embeddings.create(model="vectors", input="hi").data[0].embedding),
        "models": [model.id for model in client.models.list()],
        "retrieved": client.models.retrieve("agent").id,
        "missing": seconds_until_error(lambda: chat.create(model="missing", messages=[USER])),
        "wrong_key": seconds_until_error(lambda: wrong.chat.completions.create(model="agent", messages=[USER])),
    }


def anthropic_calls(base, key):
    from anthropic import Anthropic

    client = Anthropic(base_url=base, api_key=key)
    tools = [{"name": TOOL["name"], "description": TOOL["description"], "input_schema": TOOL["parameters"]}]
    common = {"model": "agent", "max_tokens": 60}
    first = client.messages.create(messages=[USER], tools=tools, **common)
    use = next(block for block in first.content if block.type == "tool_use")
    result = {"type": "tool_result", "tool_use_id": use.id, "content": "noon"}
    history = [USER, {"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
    last = client.messages.create(messages=history, tools=tools, **common)
    with client.messages.stream(messages=[USER], **common) as stream:
        streamed = stream.get_final_message()
    pdf = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}}
    read = [{**result, "content": [pdf]}]
    after_pdf = client.messages.create(
        messages=[*history[:2], {"role": "user", "content": read}], tools=tools, **common
    )
    wrong = Anthropic(base_url=base, api_key="wrong")
    return {
        "tool": use.name,
        "stop_reason": first.stop_reason,
        "after_tool": last.content[0].text,
        "streamed": streamed.content[0].text,
        "after_pdf": after_pdf.content[0].type,
        "tokens": client.messages.count_tokens(model="agent", messages=[USER]).input_tokens,
        "models": [model.id for model in client.models.list()],
        "missing": seconds_until_error(
            lambda: client.messages.create(model="missing", max_tokens=9, messages=[USER])
        ),
        "wrong_key": seconds_until_error(lambda: wrong.messages.create(messages=[USER], **common)),
    }


CALLS = {"openai": openai_calls, "anthropic": anthropic_calls}
sdk, base_url, api_key = sys.argv[1:]
print(json.dumps(CALLS[sdk](base_url, api_key)))
