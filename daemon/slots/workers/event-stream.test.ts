import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type EventStream, eventStream } from './event-stream.ts';

test('sends the headers at once', async () => {
  const opened = Promise.withResolvers<EventStream>();
  const server = createServer((_req, res: ServerResponse) =>
    opened.resolve(eventStream(res, new AbortController().signal)),
  );
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ]);
  (await opened.promise).done();
  expect(await answer.text()).toBe('data: [DONE]\n\n');
});
