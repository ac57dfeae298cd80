// Plain JavaScript, run in the folder of the installed packages: LangChain over chat, Responses and Messages. Prints JSON.
import { ChatAnthropic } from '@langchain/anthropic';
import { HumanMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { tool } from 'langchain';
import { z } from 'zod';

const [, url, key] = process.argv;
const zones = [];
const getTime = tool(
  ({ zone }) => {
    zones.push(zone);
    return '12:00';
  },
  { name: 'get_time', description: 'Time', schema: z.object({ zone: z.string() }) },
);

const openai = (apiKey, more) =>
  new ChatOpenAI({ model: 'agent', apiKey, configuration: { baseURL: `${url}/v1` }, maxRetries: 0, ...more });
const anthropic = (apiKey) =>
  new ChatAnthropic({ model: 'agent', apiKey, anthropicApiUrl: url, maxTokens: 200, maxRetries: 0 });

async function loop(model) {
  const withTools = model.bindTools([getTime]);
  const messages = [new HumanMessage('What time is it?')];
  const first = await withTools.invoke(messages);
  messages.push(first);
  for (const call of first.tool_calls ?? []) messages.push(await getTime.invoke(call));
  return (await withTools.invoke(messages)).text;
}

const texts = [];
for (const model of [openai(key), openai(key, { useResponsesApi: true }), anthropic(key)])
  texts.push(await loop(model));
let streamed = '';
for await (const chunk of await openai(key).stream('Hi')) streamed += chunk.text;

const wrongKeys = [];
for (const make of [openai, anthropic]) {
  const startedAt = performance.now();
  const error = await make('not-a-key-of-this-gateway')
    .invoke('Hi')
    .catch((each) => each);
  wrongKeys.push({ message: String(error.message), ms: performance.now() - startedAt });
}
console.log(JSON.stringify({ zones, texts: [...texts, streamed], wrongKeys }));
