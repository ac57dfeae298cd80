import { afterEach, describe, expect, test } from 'vitest';
import { GatewayError } from '../../contract/errors.ts';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import { readAll, send, until } from '../testing/client.ts';
import { listen, type TestServer, TestSlots } from '../testing/gateway.ts';
import { awaitLease } from './await-lease.ts';
import { CallScope } from './call-scope.ts';
import { ResponseWriter } from './response-writer.ts';

let server: TestServer | undefined;
afterEach(() => server?.close());

type Load = { decided: () => void; ready: () => void; fail: (error: Error) => void };

/** A server whose calls wait for slot `agent`; the test controls the slot. */
async function setUp(stream: boolean, reports = stream) {
  const slots = new TestSlots([slotRecord({ name: 'agent' })]);
  let load: Load | undefined;
  slots.before = (_, options) =>
    new Promise((resolve, reject) => {
      load = { decided: () => options.onDecided?.(), ready: resolve, fail: reject };
    });
  const outcome: unknown[] = [];
  server = await listen((_req, res) => {
    const answer = new ResponseWriter({ res, onFirstByte: () => {}, stallMs: 1000 });
    const scope = new CallScope(res);
    const options = {
      slots,
      scope: scope,
      response: answer,
      stream,
      reports,
      priority: 'interactive',
      reportAfterMs: 30,
      reportEveryMs: 20,
    } as const;
    awaitLease('agent', options)
      .then((lease) => {
        outcome.push(lease.slot);
        if (answer.headSent) answer.finish(Buffer.from('data: [DONE]\n\n'));
        else res.end('plain');
      })
      .catch((error) => {
        outcome.push(error);
        if (answer.headSent) answer.fail(error);
        else res.writeHead(error.status).end();
      });
  });
  const request = send(server.origin, '/', '{}');
  await until(() => load !== undefined);
  return { load: load as unknown as Load, outcome, request };
}

describe('a streaming caller', () => {
  test('has 200 and comments during an admitted load, then its response', async () => {
    const { load, request } = await setUp(true);
    load.decided();
    const res = await request.head;
    expect(res.headers['content-type']).toBe('text/event-stream');
    let received = '';
    res.on('data', (chunk) => {
      received += chunk;
    });
    await until(() => received.split(': loading\n\n').length > 3);
    load.ready();
    await until(() => res.complete);
    expect(received).toMatch(/^(: loading\n\n)+data: \[DONE\]\n\n$/);
  });

  test('receives a later failure as an error event', async () => {
    const { load, request } = await setUp(true);
    load.decided();
    const res = await request.head;
    load.fail(new GatewayError('slot.failed', { details: { reason: 'exit 1' } }));
    const { body, whole } = await readAll(res);
    expect(whole).toBe(true);
    expect(body).toMatch(/^(: loading\n\n)+data: \{"error":\{"code":"slot\.failed".*\}\}\n\n$/);
  });

  test('gets a real status until admission has decided, however long it takes', async () => {
    const { load, request, outcome } = await setUp(true);
    await new Promise((resolve) => setTimeout(resolve, 60));
    load.fail(new GatewayError('slot.no_memory'));
    expect((await request.head).statusCode).toBe(507);
    expect(outcome).toHaveLength(1);
  });

  test('a short load is not reported', async () => {
    const { load, request } = await setUp(true);
    load.decided();
    load.ready();
    expect((await readAll(await request.head)).body).toBe('plain');
  });
});

test('a caller that waits like a stream and reads none gets its plain response', async () => {
  const { load, request } = await setUp(true, false);
  load.decided();
  await new Promise((resolve) => setTimeout(resolve, 100));
  load.ready();
  expect((await readAll(await request.head)).body.toString()).toBe('plain');
});

test('any other caller waits for its status', async () => {
  const { load, request } = await setUp(false);
  load.decided();
  await new Promise((resolve) => setTimeout(resolve, 60));
  load.fail(new GatewayError('slot.loading', { retryAfterS: 10 }));
  expect((await request.head).statusCode).toBe(503);
});

test('a client disconnect ends the wait', async () => {
  const { load, request, outcome } = await setUp(true);
  load.decided();
  const res = await request.head;
  res.on('error', () => {});
  request.req.destroy();
  load.fail(new GatewayError('slot.failed'));
  await until(() => outcome.length === 1);
});
