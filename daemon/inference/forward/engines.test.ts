import { expect, test } from 'vitest';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import { startHttpProxy } from '../../lib/testing/http-proxy.ts';
import { post } from '../testing/client.ts';
import { CHAT, closeAfterEach, closers, hello } from '../testing/forwarding.ts';
import { listen, openGateway, TestSlots } from '../testing/gateway.ts';

closeAfterEach();

test('a call goes through the proxy of its origin, with its whole body', async () => {
  const received: number[] = [];
  const server = await listen((req, res) => {
    let length = 0;
    req.on('data', (chunk: Buffer) => {
      length += chunk.length;
    });
    req.on('end', () => {
      received.push(length);
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end('{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}]}');
    });
  });
  closers.push(server.close);
  const proxy = await startHttpProxy({ target: Number(new URL(server.origin).port) });
  closers.push(async () => void (await proxy.close()));
  const slots = new TestSlots([slotRecord({ name: 'agent', model: 'qwen' })]);
  slots.engine = 'http://far.example';
  const gateway = await openGateway({ slots, proxyFor: () => proxy.address });
  closers.push(gateway.close);
  const long = { ...hello, messages: [{ role: 'user', content: 'x'.repeat(400_000) }] };
  expect((await post(gateway.origin, CHAT, long)).status).toBe(200);
  expect(proxy.requests).toEqual([`POST http://far.example${CHAT} -`]);
  expect(received[0]).toBeGreaterThan(400_000);
});
