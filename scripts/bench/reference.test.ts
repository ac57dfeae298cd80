import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createReference, withModel } from './reference.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

async function listen(server: Server): Promise<string> {
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A model server that answers each chat with the body it got, in two chunks when it is a stream. */
const upstream = (): Server =>
  createServer(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += chunk;
    if (!body.includes('"stream":true')) {
      res.setHeader('content-length', Buffer.byteLength(body));
      return res.setHeader('content-type', 'application/json').end(body);
    }
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write('data: 1\n\n');
    setImmediate(() => res.end('data: [DONE]\n\n'));
  });

async function reference(): Promise<(body: string, key?: string) => Promise<Response>> {
  const origin = await listen(upstream());
  const url = await listen(createReference({ origin, key: 'right', model: 'mock' }));
  return (body, key = 'right') =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
    });
}

test('the model is replaced, and only the first one', () => {
  const replaced = withModel(Buffer.from('{"model":"agent","messages":[{"model":"agent"}]}'), 'mock-1');
  expect(replaced.toString()).toBe('{"model":"mock-1","messages":[{"model":"agent"}]}');
  expect(withModel(Buffer.from('{"input":1}'), 'mock').toString()).toBe('{"input":1}');
});

test('a chat reaches the upstream with the other model, and the caller gets the answer', async () => {
  const send = await reference();
  const answer = await send('{"model":"agent","messages":[]}');
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({ model: 'mock', messages: [] });
});

test('a stream is passed through', async () => {
  const send = await reference();
  const answer = await send('{"model":"agent","stream":true}');
  expect(answer.headers.get('content-type')).toBe('text/event-stream');
  expect(await answer.text()).toBe('data: 1\n\ndata: [DONE]\n\n');
});

test('a wrong key is rejected', async () => {
  const send = await reference();
  expect((await send('{}', 'wrong')).status).toBe(401);
});

test('an upstream that cannot be reached is a 502', async () => {
  const url = await listen(createReference({ origin: 'http://127.0.0.1:1', key: 'k', model: 'mock' }));
  const answer = await fetch(url, { method: 'POST', headers: { authorization: 'Bearer k' }, body: '{}' });
  expect(answer.status).toBe(502);
});
