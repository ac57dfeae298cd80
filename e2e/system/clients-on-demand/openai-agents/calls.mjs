// Plain JavaScript, run in the folder of the installed packages: OpenAI's Agents SDK over Responses and chat. Prints JSON.
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents';
import OpenAI from 'openai';
import { z } from 'zod';

const [, url, key] = process.argv;
setTracingDisabled(true);
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
const agent = new Agent({ name: 'clock', instructions: 'Tell the time.', model: 'agent', tools: [getTime] });

const runnerOf = (apiKey, useResponses) => {
  const openAIClient = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
  return new Runner({ modelProvider: new OpenAIProvider({ openAIClient, useResponses }) });
};

const texts = [];
const wrongKeys = [];
for (const useResponses of [true, false]) {
  const runner = runnerOf(key, useResponses);
  const first = await runner.run(agent, 'What time is it?');
  const second = await runner.run(agent, [...first.history, { role: 'user', content: 'Thank you' }]);
  const streamed = await runner.run(agent, 'What time is it?', { stream: true });
  await streamed.completed;
  texts.push(first.finalOutput, second.finalOutput, streamed.finalOutput);
  const startedAt = performance.now();
  const error = await runnerOf('not-a-key-of-this-gateway', useResponses)
    .run(agent, 'Hi')
    .catch((each) => each);
  wrongKeys.push({ message: String(error.message), ms: performance.now() - startedAt });
}
console.log(JSON.stringify({ zones, texts, wrongKeys }));
