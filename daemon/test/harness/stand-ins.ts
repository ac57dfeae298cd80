import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * STAND-INS for engines that cannot run on a test machine (a GPU, an NPU, gigabytes of weights). Each refuses arguments
 * and requests that the real program would reject, and names the requested model in its answers.
 */

const COMMON = `
const http = require('node:http');
const words = process.argv.slice(2);
const flag = (name) => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined);
const refuse = (why) => { console.error('error: ' + why); process.exit(2); };
const json = (res, status, body) => {
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(JSON.stringify(body));
};
const serve = (handle) => http.createServer((req, res) => {
  const parts = [];
  req.on('data', (part) => parts.push(part));
  req.on('end', () => handle(req, res, Buffer.concat(parts).toString('latin1')));
}).listen(Number(flag('--port')), flag('--host') ?? flag('--listen'));
const choice = (content) => ({ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } });
const argv = (known) => {
  for (let at = 0; at < words.length; at++) {
    if (!words[at].startsWith('--')) continue;
    if (!(words[at] in known)) refuse('unrecognized arguments: ' + words[at]);
    at += known[words[at]];
  }
};
`;

/** Bytes of the worker of the stand-in for vLLM. */
export const VLLM_WORKER_BYTES = 96 * 1024 ** 2;

/**
 * vLLM: the model as positional argument, the key in a variable, requests for the served name only. Like vLLM 0.32 it
 * holds its weights in a separate process, answers with FastAPI's and OpenAI's errors, and has the routes of its sleep
 * mode with VLLM_SERVER_DEV_MODE=1 only, where VLLM_TEST_SLEEPING=1 lets it sleep.
 */
const VLLM = `${COMMON}
const { spawn } = require('node:child_process');
argv({ '--served-model-name': 1, '--host': 1, '--port': 1, '--max-num-seqs': 1, '--max-model-len': 1,
  '--gpu-memory-utilization': 1, '--kv-cache-memory-bytes': 1, '--enforce-eager': 0, '--dtype': 1 });
const worker = spawn(process.execPath, ['-e',
  'globalThis.weights = Buffer.alloc(${VLLM_WORKER_BYTES}, 1); process.stdin.resume(); process.stdin.on("end", () => process.exit());',
], { stdio: ['pipe', 'ignore', 'inherit'] });
process.on('SIGTERM', () => { worker.kill(); process.exit(); });
if (words[0] !== 'serve' || words[1].startsWith('-')) refuse('the model must come first');
const [served, key] = [flag('--served-model-name'), process.env.VLLM_API_KEY];
if (!key) refuse('no key');
setTimeout(() => serve((req, res, body) => {
  if (req.url === '/health') return res.end();
  if (req.headers.authorization !== 'Bearer ' + key) return json(res, 401, { error: 'Unauthorized' });
  if (req.url === '/is_sleeping' && process.env.VLLM_SERVER_DEV_MODE === '1') {
    return json(res, 200, { is_sleeping: process.env.VLLM_TEST_SLEEPING === '1' });
  }
  if (req.url === '/v1/models') {
    const data = [{ id: served, object: 'model', owned_by: 'vllm', max_model_len: Number(flag('--max-model-len') ?? 512) }];
    return json(res, 200, { object: 'list', data });
  }
  if (req.method === 'GET') return json(res, 404, { detail: 'Not Found' });
  const request = JSON.parse(body);
  if (request.model !== served) {
    const message = 'The model does not exist.';
    return json(res, 404, { error: { message, type: 'NotFoundError', param: 'model', code: 404 } });
  }
  if (req.url === '/v1/chat/completions') {
    return json(res, 200, { model: served, choices: [choice('vllm stand-in: ' + words[1])] });
  }
  if (req.url === '/v1/rerank') {
    const results = request.documents.map((_, index) => ({ index, relevance_score: 1 / (index + 1) }));
    return json(res, 200, { results });
  }
  json(res, 404, { detail: 'Not Found' });
}), 100);
`;

/** FastFlowLM: native tags only, errors inside a 200, null for a part that was not started, additional figures in usage. */
const FLM = `${COMMON}
argv({ '--host': 1, '--port': 1, '--ctx-len': 1, '--asr': 1, '--embed': 1, '--quiet': 0 });
if (words[0] !== 'serve') refuse('unknown command');
const TAGS = ['llama3.2:1b', 'qwen3:0.6b', 'embed-gemma:300m', 'whisper-v3:turbo'];
const usage = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8, decoding_speed_tps: 41.5,
  prefill_duration_ttft: 0.2, kv_token_occupancy_rate_percentage: null };
serve((req, res, body) => {
  if (req.headers.authorization !== undefined) return json(res, 500, { error: 'a key that it does not know' });
  if (req.url === '/v1/models') return json(res, 200, { data: TAGS.map((id) => ({ id })) });
  if (req.url === '/v1/audio/transcriptions') {
    return json(res, 200, flag('--asr') === '1' ? { model: 'whisper-v3:turbo', text: 'flm stand-in heard' } : null);
  }
  const request = JSON.parse(body);
  if (!TAGS.includes(request.model)) {
    return json(res, 200, { error: { message: 'no such tag: ' + request.model, type: 'model_error', code: 404 } });
  }
  if (req.url === '/v1/embeddings') {
    const data = [{ object: 'embedding', index: 0, embedding: [0.6, 0.8] }];
    return json(res, 200, flag('--embed') === '1' ? { data, usage: { prompt_tokens: 0 } } : null);
  }
  if (req.url !== '/v1/chat/completions') return json(res, 404, { error: 'Not Found' });
  const last = request.messages.at(-1).content;
  if (last === 'nothing') return json(res, 200, null);
  if (last === 'too much') {
    return json(res, 400, { error: { message: 'Max length reached!', type: 'model_error', code: 400 } });
  }
  if (last === 'full') return json(res, 503, { error: 'NPU is in use and request queue is full (limit: 10).' });
  json(res, 200, { model: request.model, choices: [choice('flm stand-in: ' + request.model)], usage });
});
`;

/** ComfyUI: no key, no OpenAI routes; describes its machine. */
const COMFYUI = `${COMMON}
argv({ '--listen': 1, '--port': 1, '--disable-auto-launch': 0, '--cpu': 0 });
serve((req, res) => {
  if (req.url !== '/system_stats') return json(res, 404, {});
  json(res, 200, { system: { comfyui_version: 'stand-in', argv: words }, devices: [] });
});
`;

/** Writes the stand-ins as programs into `folder` and returns it, for the start of PATH. */
export function writeStandIns(folder: string): string {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries({ vllm: VLLM, flm: FLM, comfyui: COMFYUI })) {
    const path = join(folder, name);
    writeFileSync(path, `#!${process.execPath}\n${text}`);
    chmodSync(path, 0o755);
  }
  return folder;
}
