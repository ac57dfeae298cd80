"""Calls a gateway with a released framework. Arguments: framework, base URL without /v1, key. Prints one JSON object.

`zones` has the arguments of the calls that the framework ran, `texts` the answers, `wrong_keys` the errors with a wrong key.
"""

import asyncio
import json
import sys
import time

REPLY_TO = "What time is it?"
WRONG = "not-a-key-of-this-gateway"
zones = []


def get_time(zone: str) -> str:
    """The time of a zone.

    Args:
        zone: Name of the zone
    """
    zones.append(zone)
    return "12:00"


def error_of(call):
    """Returns the text of the error of a call and how long it took."""
    started = time.monotonic()
    try:
        call()
    except Exception as error:  # noqa: BLE001
        return {"message": str(error), "seconds": time.monotonic() - started}
    return {"message": "no error", "seconds": 0}


def litellm_calls(base, key):
    import litellm

    litellm.telemetry = False
    parameters = {"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]}
    tools = [{"type": "function", "function": {"name": "get_time", "description": "Time", "parameters": parameters}}]
    texts = []
    # `openai/` speaks chat, `anthropic/` Messages.
    for model, url in (("openai/agent", f"{base}/v1"), ("anthropic/agent", base)):
        ask = {"model": model, "api_base": url, "api_key": key, "tools": tools, "num_retries": 0}
        messages = [{"role": "user", "content": REPLY_TO}]
        first = litellm.completion(messages=messages, **ask).choices[0].message
        messages.append(first.model_dump())
        for call in first.tool_calls:
            result = get_time(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        texts.append(litellm.completion(messages=messages, **ask).choices[0].message.content)
    user = [{"role": "user", "content": "Hi"}]
    openai = {"model": "openai/agent", "api_base": f"{base}/v1"}
    stream = litellm.completion(messages=user, api_key=key, stream=True, **openai)
    texts.append("".join(chunk.choices[0].delta.content or "" for chunk in stream))
    wrong = error_of(lambda: litellm.completion(messages=user, api_key=WRONG, num_retries=0, **openai))
    return texts, [wrong]


def langchain_calls(base, key):
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI, OpenAIEmbeddings

    def model(api_key, **more):
        return ChatOpenAI(model="agent", base_url=f"{base}/v1", api_key=api_key, max_retries=0, **more)

    texts = []
    for chat in (model(key), model(key, use_responses_api=True)):
        state = create_agent(chat, tools=[get_time]).invoke({"messages": [{"role": "user", "content": REPLY_TO}]})
        texts.append(state["messages"][-1].text)
    texts.append("".join(chunk.text for chunk in model(key).stream("Hi")))
    vectors = OpenAIEmbeddings(
        model="vectors", base_url=f"{base}/v1", api_key=key, check_embedding_ctx_length=False
    )
    assert len(vectors.embed_query("Hi")) == 64
    return texts, [error_of(lambda: model(WRONG).invoke("Hi"))]


def llama_index_calls(base, key):
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.llms.openai_like import OpenAILike

    def model(api_key):
        return OpenAILike(
            model="agent",
            api_base=f"{base}/v1",
            api_key=api_key,
            is_chat_model=True,
            is_function_calling_model=True,
            max_retries=0,
        )

    async def looped():
        return str(await FunctionAgent(tools=[get_time], llm=model(key), system_prompt="Help.").run(REPLY_TO))

    texts = [asyncio.run(looped())]
    texts.append(str(model(key).complete("Hi")))
    texts.append("".join(part.delta for part in model(key).stream_complete("Hi")))
    return texts, [error_of(lambda: model(WRONG).complete("Hi"))]


def pydantic_ai_calls(base, key):
    from pydantic_ai import Agent
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.anthropic import AnthropicProvider
    from pydantic_ai.providers.openai import OpenAIProvider

    openai = OpenAIProvider(base_url=f"{base}/v1", api_key=key)
    models = [
        OpenAIChatModel("agent", provider=openai),
        OpenAIResponsesModel("agent", provider=openai),
        AnthropicModel("agent", provider=AnthropicProvider(base_url=base, api_key=key)),
    ]
    texts = []
    for model in models:
        agent = Agent(model, tools=[get_time], retries=0)
        first = agent.run_sync(REPLY_TO)
        texts.append(first.output)
        texts.append(agent.run_sync("Thank you", message_history=first.all_messages()).output)
    provider = OpenAIProvider(base_url=f"{base}/v1", api_key=WRONG)
    wrong = Agent(OpenAIChatModel("agent", provider=provider), retries=0)
    return texts, [error_of(lambda: wrong.run_sync("Hi"))]


def openai_agents_calls(base, key):
    from agents import Agent, OpenAIProvider, RunConfig, Runner, function_tool, set_tracing_disabled

    set_tracing_disabled(True)
    agent = Agent(name="clock", instructions="Help.", model="agent", tools=[function_tool(get_time)])
    texts, wrong_keys = [], []
    for use_responses in (True, False):

        def config(api_key, responses=use_responses):
            provider = OpenAIProvider(base_url=f"{base}/v1", api_key=api_key, use_responses=responses)
            return RunConfig(model_provider=provider)

        first = Runner.run_sync(agent, REPLY_TO, run_config=config(key))
        texts.append(first.final_output)
        again = [*first.to_input_list(), {"role": "user", "content": "Thank you"}]
        texts.append(Runner.run_sync(agent, again, run_config=config(key)).final_output)
        wrong_keys.append(error_of(lambda c=config: Runner.run_sync(agent, "Hi", run_config=c(WRONG))))
    return texts, wrong_keys


def instructor_calls(base, key):
    import instructor
    from openai import OpenAI
    from pydantic import BaseModel

    class Clock(BaseModel):
        zone: str

    def client(api_key, mode):
        return instructor.from_openai(OpenAI(base_url=f"{base}/v1", api_key=api_key, max_retries=0), mode=mode)

    ask = {"model": "agent", "response_model": Clock, "messages": [{"role": "user", "content": "Hi"}]}
    modes = (instructor.Mode.TOOLS, instructor.Mode.TOOLS_STRICT, instructor.Mode.JSON_SCHEMA)
    for mode in modes:
        zones.append(type(client(key, mode).chat.completions.create(max_retries=0, **ask).zone).__name__)
    wrong = client(WRONG, instructor.Mode.TOOLS)
    return [], [error_of(lambda: wrong.chat.completions.create(max_retries=0, **ask))]


def smolagents_calls(base, key):
    from smolagents import OpenAIServerModel, Tool, ToolCallingAgent

    class GetTime(Tool):
        name = "get_time"
        description = "Time"
        inputs = {"zone": {"type": "string", "description": "Name of the zone"}}
        output_type = "string"

        def forward(self, zone):
            return get_time(zone)

    def model(api_key):
        return OpenAIServerModel(
            model_id="agent", api_base=f"{base}/v1", api_key=api_key, client_kwargs={"max_retries": 0}
        )

    # The model never calls `final_answer`; after the last step the agent asks for a text without tools.
    agent = ToolCallingAgent(tools=[GetTime()], model=model(key), max_steps=1, verbosity_level=0)
    texts = [str(agent.run(REPLY_TO))]
    wrong = model(WRONG)
    message = [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]
    return texts, [error_of(lambda: wrong.generate(message))]


CALLS = {
    "litellm": litellm_calls,
    "langchain": langchain_calls,
    "llama-index": llama_index_calls,
    "pydantic-ai": pydantic_ai_calls,
    "openai-agents": openai_agents_calls,
    "instructor": instructor_calls,
    "smolagents": smolagents_calls,
}

if __name__ == "__main__":
    _, framework, address, client_key = sys.argv
    answers, wrong = CALLS[framework](address, client_key)
    print(json.dumps({"zones": zones, "texts": answers, "wrong_keys": wrong}))
