// Plain JavaScript, run in the folder of the installed packages: the AI SDK with one of its default providers. Prints JSON.
// Usage: node --input-type=module -e TEXT PROVIDER URL KEY
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, isStepCount, Output, streamText, tool } from 'ai';
import { z } from 'zod';

const [, provider, url, key] = process.argv;
const FACTORIES = { openai: createOpenAI, anthropic: createAnthropic };
const modelWith = (apiKey) => FACTORIES[provider]({ baseURL: `${url}/v1`, apiKey })('agent');
const model = modelWith(key);
const PDF = 'JVBERi0xLjQKJSVFT0YK';

const zones = [];
const getTime = tool({
  description: 'Time',
  inputSchema: z.object({ zone: z.string() }),
  execute: async ({ zone }) => {
    zones.push(zone);
    return '12:00';
  },
});
const getReport = tool({
  description: 'Time as a PDF',
  inputSchema: z.object({ zone: z.string() }),
  execute: async () => 'report.pdf',
  toModelOutput: () => ({
    type: 'content',
    value: [
      {
        type: 'file',
        mediaType: 'application/pdf',
        filename: 'report.pdf',
        data: { type: 'data', data: PDF },
      },
    ],
  }),
});

const question = { model, prompt: 'What time is it?', stopWhen: isStepCount(3), maxRetries: 0 };
const looped = await generateText({ ...question, tools: { get_time: getTime } });
const again = await generateText({
  ...question,
  prompt: undefined,
  messages: [
    { role: 'user', content: 'What time is it?' },
    ...looped.response.messages,
    { role: 'user', content: 'Thank you' },
  ],
  tools: { get_time: getTime },
});
const streamed = streamText({ ...question, tools: { get_time: getTime } });
let text = '';
for await (const part of streamed.textStream) text += part;
const pdf = await generateText({ ...question, tools: { get_time: getReport } });
const shaped = await generateText({
  model,
  prompt: 'Hi',
  maxRetries: 0,
  output: Output.object({ schema: z.object({ name: z.string().max(10), count: z.int() }) }),
});

const startedAt = performance.now();
const wrong = await generateText({ model: modelWith('not-a-key-of-this-gateway'), prompt: 'Hi' }).catch(
  (error) => error,
);
const wrongKey = {
  message: String(wrong.message),
  status: wrong.statusCode,
  ms: performance.now() - startedAt,
};

console.log(
  JSON.stringify({
    zones,
    looped: looped.text,
    steps: looped.steps.map(({ finishReason }) => finishReason),
    again: again.text,
    streamed: text,
    afterPdf: pdf.text,
    shaped: shaped.output,
    wrongKey,
  }),
);
