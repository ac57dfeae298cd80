// Plain JavaScript, run in the folder of the installed packages: promptfoo over three APIs and vectors. Prints JSON.
import promptfoo from 'promptfoo';

const [url, key] = process.argv.slice(-2);
const question = 'What time is it in UTC?';
const parameters = {
  type: 'object',
  properties: { zone: { type: 'string' } },
  required: ['zone'],
};
const description = 'The time of a zone';
const tools = {
  chat: [{ type: 'function', function: { name: 'get_time', description, parameters } }],
  responses: [{ type: 'function', name: 'get_time', description, parameters }],
  messages: [{ name: 'get_time', description, input_schema: parameters }],
};
const provider = (api, apiKey, more = {}) =>
  api === 'messages'
    ? { id: 'anthropic:messages:agent', config: { apiBaseUrl: url, apiKey, max_tokens: 200, ...more } }
    : { id: `openai:${api}:agent`, config: { apiBaseUrl: `${url}/v1`, apiKey, ...more } };

/** Evaluates one prompt and returns the result of its only test. */
async function run(target, assert = []) {
  const record = await promptfoo.evaluate(
    { prompts: [question], providers: [target], tests: [{ assert }], writeLatestResults: false },
    { cache: false, showProgressBar: false, maxConcurrency: 1 },
  );
  const [result] = (await record.toEvaluateSummary()).results;
  return result;
}

const found = { zones: [], texts: [], wrongKeys: [] };
for (const api of ['chat', 'responses', 'messages']) {
  const plain = await run(provider(api, key), [{ type: 'contains', value: 'Hello' }]);
  if (!plain.success) throw new Error(`${api}: ${plain.error}`);
  found.texts.push(plain.response.output);
  const called = await run(provider(api, key, { tools: tools[api] }));
  const text = JSON.stringify(called.response?.output ?? called.error).replaceAll('\\', '');
  found.zones.push(/"zone":\s*"(\w+)"/.exec(text)?.[1] ?? text);
  const start = performance.now();
  const refused = await run(provider(api, 'not-a-key-of-this-gateway'));
  found.wrongKeys.push({ message: String(refused.error), ms: performance.now() - start });
}
const similar = { type: 'similar', value: 'Hello from the tiny model.', threshold: 0.99 };
const embedding = { id: 'openai:embedding:vectors', config: { apiBaseUrl: `${url}/v1`, apiKey: key } };
const alike = await run(provider('chat', key), [{ ...similar, provider: embedding }]);
found.texts.push(alike.success ? alike.response.output : String(alike.error));
console.log(JSON.stringify(found));
process.exit(0);
