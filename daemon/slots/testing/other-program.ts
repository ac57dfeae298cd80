import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Launch, LaunchFor } from '../engines/engine.ts';
import type { ProcessRunSpec } from '../engines/run-spec.ts';
import { workerLaunch } from './launches.ts';

/**
 * A small external engine. It prints its arguments, is loading for the first `--loading` probes and until the file
 * `--until` exists, responds with `--reply` and the requested model name, streams if requested, and requires the
 * key of variable ENGINE_KEY or of the file `--key-file`.
 */
const PROGRAM = `
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
const flag = (name, otherwise) => {
  const at = process.argv.indexOf('--' + name);
  return at < 0 ? otherwise : process.argv[at + 1];
};
const file = flag('key-file');
const key = file === undefined ? process.env.ENGINE_KEY : readFileSync(file, 'utf8');
let loading = Number(flag('loading', 0));
const until = flag('until');
const reply = flag('reply', 'Hello from another program.');
console.log('argv ' + JSON.stringify(process.argv.slice(2)));
console.log('env ' + JSON.stringify(Object.keys(process.env).sort()));
console.log('key ' + (file === undefined ? 'by variable' : 'mode ' + (statSync(file).mode & 0o777).toString(8)));
const json = (res, status, body) => {
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(JSON.stringify(body));
};
const chat = (res, body) => {
  const { model, stream } = JSON.parse(body);
  const message = { role: 'assistant', content: reply + ' (' + model + ')' };
  if (stream) {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write('data: ' + JSON.stringify({ choices: [{ index: 0, delta: message }] }) + '\\n\\n');
    return res.end('data: [DONE]\\n\\n');
  }
  const usage = { prompt_tokens: 1, completion_tokens: 7, total_tokens: 8 };
  json(res, 200, { choices: [{ index: 0, finish_reason: 'stop', message }], usage });
};
createServer((req, res) => {
  console.log('received ' + req.method + ' ' + req.url);
  const early = loading > 0 || (until !== undefined && !existsSync(until));
  if (req.url === '/health') return json(res, early ? (loading--, 503) : 200, {});
  if (key && req.headers.authorization !== 'Bearer ' + key) return json(res, 401, {});
  if (req.url !== '/v1/chat/completions') return json(res, 404, {});
  let body = '';
  req.on('data', (chunk) => { body += chunk; });
  req.on('end', () => chat(res, body));
}).listen(Number(flag('port')), flag('host', '127.0.0.1'));
`;

/** Writes the program into a folder, under a name that a shell would misinterpret, and returns its path. */
export function writeOtherProgram(folder: string, text = PROGRAM): string {
  const path = join(folder, 'other $(engine);.mjs');
  writeFileSync(path, text);
  return path;
}

/** Returns a launch of a program as a process. */
export const processLaunch = (
  how: Partial<ProcessRunSpec>,
  over: Partial<Launch> = {},
): LaunchFor<'process'> => ({
  ...workerLaunch(over),
  how: {
    runner: 'process',
    command: process.execPath,
    args: [],
    env: {},
    key: { by: 'none' },
    probe: { path: '/health', loading: [503] },
    install: 'Install it.',
    shared: null,
    unfit: [],
    ...how,
  },
});
