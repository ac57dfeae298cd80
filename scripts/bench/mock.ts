/** Replaces mock.c where there is no compiler: same requests, same answers, slower. */
import { createServer, type ServerResponse } from 'node:http';

const count = { requests: 0, bytes: 0, streams: 0, aborted: 0 };
/** Bytes at the start and end of a body that are parsed. */
const PARSED_BYTES = 4096;

const CHAT = JSON.stringify({
  id: 'chatcmpl-mock',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'mock',
  choices: [{ index: 0, message: { role: 'assistant', content: '0'.repeat(400) }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 20, completion_tokens: 64, total_tokens: 84 },
});

function json(res: ServerResponse, body: string): void {
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  res.end(body);
}

const token = (number: number): string =>
  `data: {"id":"chatcmpl-mock","object":"chat.completion.chunk","created":1700000000,"model":"mock","choices":[` +
  `{"index":0,"delta":{"content":" tok${number}"},"finish_reason":null}],"ts":${process.hrtime.bigint()}}\n\n`;

function stream(res: ServerResponse, tokens: number, everyMs: number): void {
  let sent = 0;
  count.streams++;
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  const step = (): void => {
    if (sent === tokens) res.end('data: [DONE]\n\n');
    else if (sent < tokens) res.write(token(sent));
    sent++;
  };
  const timer = setInterval(step, everyMs);
  step();
  res.on('close', () => {
    clearInterval(timer);
    count.streams--;
    if (!res.writableFinished) count.aborted++;
  });
}

const numberOf = (body: string, name: string, otherwise: number): number =>
  Number(new RegExp(`"${name}"\\s*:\\s*(\\d+)`).exec(body)?.[1] ?? otherwise);

const server = createServer({ noDelay: true }, (req, res) => {
  if (req.method === 'GET') return json(res, JSON.stringify(count));
  let [head, tail, bytes] = ['', '', 0];
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (head.length < PARSED_BYTES) head += chunk.toString('latin1', 0, PARSED_BYTES);
    tail = chunk.toString('latin1', Math.max(0, chunk.length - PARSED_BYTES));
  });
  req.on('end', () => {
    count.requests++;
    count.bytes += bytes;
    const body = head + tail;
    if (!req.url?.includes('chat/completions')) json(res, JSON.stringify({ text: 'ok', bytes }));
    else if (!/"stream"\s*:\s*true/.test(body)) json(res, CHAT);
    else stream(res, numberOf(body, 'max_tokens', 64), Math.max(1, numberOf(body, 'seed', 0) / 1000));
  });
});
server.listen(Number(process.argv[2]), '127.0.0.1', 4096);
