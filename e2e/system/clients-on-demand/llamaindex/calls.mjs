// Plain JavaScript, run in the folder of the installed packages: LlamaIndex over chat and vectors. Prints JSON.
import { OpenAI, OpenAIEmbedding } from '@llamaindex/openai';
import { agent } from '@llamaindex/workflow';
import { tool } from 'llamaindex';
import { z } from 'zod';

const [, url, key] = process.argv;
const zones = [];
const getTime = tool({
  name: 'get_time',
  description: 'Time',
  parameters: z.object({ zone: z.string() }),
  execute: ({ zone }) => {
    zones.push(zone);
    return '12:00';
  },
});
const llm = (apiKey) =>
  new OpenAI({ model: 'agent', apiKey, baseURL: `${url}/v1`, maxRetries: 0, supportToolCall: true });

const worker = agent({ llm: llm(key), tools: [getTime] });
const looped = await worker.run('What time is it?');
const plain = await llm(key).chat({ messages: [{ role: 'user', content: 'Hi' }] });
let streamed = '';
for await (const chunk of await llm(key).chat({ messages: [{ role: 'user', content: 'Hi' }], stream: true }))
  streamed += chunk.delta;
const vectors = new OpenAIEmbedding({ model: 'vectors', apiKey: key, baseURL: `${url}/v1` });
const vector = await vectors.getTextEmbedding('Hi');

const startedAt = performance.now();
const error = await llm('not-a-key-of-this-gateway')
  .chat({ messages: [{ role: 'user', content: 'Hi' }] })
  .catch((each) => each);
const wrongKeys = [{ message: String(error.message), ms: performance.now() - startedAt }];
const texts = [String(looped.data.result), String(plain.message.content), streamed];
console.log(JSON.stringify({ zones, texts, dimensions: vector.length, wrongKeys }));
