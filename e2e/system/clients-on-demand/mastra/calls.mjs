// Plain JavaScript, run in the folder of the installed packages: an agent of Mastra over chat. Prints JSON.
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';

const [, url, key] = process.argv;
const zones = [];
const getTime = createTool({
  id: 'get_time',
  description: 'Time',
  inputSchema: z.object({ zone: z.string() }),
  outputSchema: z.object({ time: z.string() }),
  execute: async (input) => {
    zones.push(input.zone ?? input.context?.zone);
    return { time: '12:00' };
  },
});
const agentWith = (apiKey) =>
  new Agent({
    id: 'clock',
    name: 'clock',
    instructions: 'Tell the time.',
    model: { id: 'svc/agent', url: `${url}/v1`, apiKey },
    tools: { get_time: getTime },
    maxRetries: 0,
  });

const looped = await agentWith(key).generate('What time is it?');
const stream = await agentWith(key).stream('What time is it?');
let streamed = '';
for await (const part of stream.textStream) streamed += part;

const startedAt = performance.now();
const error = await agentWith('not-a-key-of-this-gateway')
  .generate('Hi')
  .then((answer) => answer.error ?? answer)
  .catch((each) => each);
const wrongKeys = [{ message: String(error.message ?? error), ms: performance.now() - startedAt }];
console.log(JSON.stringify({ zones, texts: [looped.text, streamed], wrongKeys }));
