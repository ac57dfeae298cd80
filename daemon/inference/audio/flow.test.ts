import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { GatewayError } from '../../contract/errors.ts';
import { Flow } from './flow.ts';

const piece = (letter: string, size = 4): Buffer => Buffer.alloc(size, letter);

test('gives what came before and what comes, in order', async () => {
  const flow = new Flow(12, [piece('a')]);
  const read = buffer(flow.stream());
  flow.push(piece('b'));
  await new Promise(setImmediate);
  flow.push(piece('c'));
  flow.end();
  expect((await read).toString()).toBe('aaaabbbbcccc');
});

test('a body that ended before anybody asked for it is there', async () => {
  const flow = new Flow(8, [piece('a')]);
  flow.push(piece('b'));
  flow.end();
  flow.fail(new Error('too late to count'));
  expect((await buffer(flow.stream())).toString()).toBe('aaaabbbb');
});

test('the sender waits while the engine does not take', async () => {
  const flow = new Flow(1 << 30, []);
  let waits: Promise<void> | undefined;
  let sent = 0;
  for (; waits === undefined; sent += 65_536) waits = flow.push(piece('x', 65_536));
  expect(sent).toBeLessThan(4 << 20);
  let goesOn = false;
  void waits.then(() => {
    goesOn = true;
  });
  await new Promise(setImmediate);
  expect(goesOn).toBe(false);
  flow.stream().resume();
  await waits;
  expect(flow.push(piece('y'))).toBeUndefined();
  flow.fail(new Error('nobody listens for it'));
  await new Promise(setImmediate);
});

test('can be asked for again only while nothing of it was taken', async () => {
  const flow = new Flow(4, [piece('a')]);
  flow.stream().destroy();
  const second = flow.stream();
  flow.end();
  expect((await buffer(second)).toString()).toBe('aaaa');
  await expect(buffer(flow.stream())).rejects.toMatchObject({ code: 'dispatch.upstream_unavailable' });
});

test.each([true, false])('what goes wrong is told to who takes it (asked before: %s)', async (before) => {
  const flow = new Flow(100, [piece('a')]);
  const reason = new GatewayError('request.invalid');
  const early = before ? buffer(flow.stream()) : null;
  flow.fail(reason);
  expect(flow.push(piece('b'))).toBeUndefined();
  await expect(early ?? buffer(flow.stream())).rejects.toBe(reason);
});

test('a sender that waits for room goes on when the body has failed', async () => {
  const flow = new Flow(1 << 30, []);
  const waits = flow.push(piece('x', 2 << 20));
  flow.fail(new Error('gone'));
  await waits;
});

test('a sender that holds an engine has to keep its pace', async () => {
  const flow = new Flow(100, [piece('a')], { bytes: 8, ms: 50 });
  const read = buffer(flow.stream());
  const drops = setInterval(() => flow.push(piece('b', 1)), 10);
  await expect(read.finally(() => clearInterval(drops))).rejects.toMatchObject({
    code: 'request.timeout',
    status: 408,
  });
});

test('one that keeps it is listened to; waiting for the engine is no slowness of its own', async () => {
  const flow = new Flow(100 << 20, [], { bytes: 4, ms: 40 });
  const full = flow.push(piece('x', 2 << 20));
  await new Promise((resolve) => setTimeout(resolve, 120));
  const out = flow.stream();
  const read = buffer(out);
  await full;
  for (let n = 0; n < 12; n++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    flow.push(piece('y'));
  }
  flow.end();
  expect((await read).length).toBe((2 << 20) + 48);
});
