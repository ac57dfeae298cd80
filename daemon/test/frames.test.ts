/** W01: invalid frames and floods of frames. Each closes its own socket, and memory stays bounded. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { closeCode, type FrameShape, frame, type RawSocket, rawSocket } from './harness/frames.ts';
import { CLIENT_KEY, startLocked, until } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { openFiles } from './harness/open-files.ts';
import { socketResult } from './harness/socket.ts';

const PATH = `/v1/realtime?api_key=${CLIENT_KEY}`;
const MIB = 1024 * 1024;
/** Allowed memory growth: several times the worst case of one socket. */
const MAX_GROWTH_MIB = 96;

const gateway = new OneGateway(startLocked);

const rssMib = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.pid}/status`, 'utf8'))?.[1]) / 1024;

/** Returns the close code after these bytes. The socket must close soon after. */
async function closeCodeAfter(...pieces: readonly Buffer[]): Promise<number | null> {
  const { socket, bytes, closed } = await rawSocket(gateway, PATH);
  for (const piece of pieces) socket.write(piece);
  await until(() => closeCode(bytes()) !== null || socket.destroyed, 'the close', 15_000);
  const code = closeCode(bytes());
  await closed;
  return code;
}

const one = (payload: string | Buffer, shape: FrameShape = {}) => [frame(payload, shape)];

describe('W01 an invalid frame', () => {
  it.each<[string, number, Buffer[]]>([
    ['is not masked', 1002, one('{}', { mask: false })],
    ['has the first reserved bit', 1002, one('{}', { rsv: 4 })],
    ['has the third reserved bit', 1002, one('{}', { rsv: 1 })],
    ['has an unknown opcode', 1002, one('{}', { opcode: 3 })],
    ['is a control frame in parts', 1002, one('x', { opcode: 9, fin: false })],
    ['is a control frame that is too long', 1002, one('x'.repeat(126), { opcode: 9 })],
    ['continues no message', 1002, one('x', { opcode: 0 })],
    ['starts a message within a message', 1002, [frame('a', { fin: false }), frame('b')]],
    ['closes with an invalid code', 1002, one(Buffer.from([0x03, 0xed]), { opcode: 8 })],
    ['closes with a truncated code', 1002, one('x', { opcode: 8 })],
    ['is no UTF-8', 1007, one(Buffer.from([0xc3, 0x28]))],
    ['declares a terabyte', 1009, one('x', { declaredLength: 1n << 40n })],
    ['declares an unrepresentable length', 1009, one('x', { declaredLength: (1n << 63n) - 1n })],
    ['is over the limit', 1009, one(Buffer.alloc(32 * MIB + 1, 120))],
    [
      'is over the limit in fragments',
      1009,
      [frame(Buffer.alloc(32 * MIB, 120), { fin: false }), frame('xx', { opcode: 0 })],
    ],
  ])('%s: %d', async (_, code, pieces) => {
    expect(await closeCodeAfter(...pieces)).toBe(code);
  });
});

describe('W01 floods', () => {
  it('a message of a hundred thousand fragments is rejected', async () => {
    const part = frame('', { opcode: 0, fin: false });
    const many = Buffer.concat(Array.from({ length: 100_000 }, () => part));
    const before = rssMib();
    expect(await closeCodeAfter(frame('', { fin: false }), many)).toBe(1008);
    expect(rssMib() - before).toBeLessThan(MAX_GROWTH_MIB);
  });

  it('endless pings from a client that reads no pong cost no memory and delay no other client', async () => {
    const { socket, closed } = await rawSocket(gateway, PATH);
    socket.on('error', () => {});
    socket.pause();
    const before = rssMib();
    const pings = Buffer.concat(Array.from({ length: 8_000 }, () => frame('x'.repeat(125), { opcode: 9 })));
    for (let sent = 0; sent < 64 * MIB && !socket.destroyed; sent += pings.length) {
      const isWritable = socket.write(pings);
      if (isWritable) continue;
      const drained = new Promise((resolve) => socket.once('drain', resolve));
      const timeout = new Promise<'stuck'>((resolve) => setTimeout(() => resolve('stuck'), 2_000).unref());
      expect((await send(gateway, 'GET', '/api/health')).status).toBe(200);
      if ((await Promise.race([drained, closed, timeout])) === 'stuck') break;
    }
    expect(rssMib() - before).toBeLessThan(MAX_GROWTH_MIB);
    socket.destroy();
    await closed;
  });

  it('a thousand idle sockets: 256 are accepted and close with their clients, the others get 1013', async () => {
    const before = openFiles(gateway.pid).sockets;
    const raws: RawSocket[] = [];
    for (let n = 0; n < 10; n++) {
      raws.push(...(await Promise.all(Array.from({ length: 100 }, () => rawSocket(gateway, PATH)))));
    }
    await until(
      () => raws.filter(({ bytes }) => closeCode(bytes()) !== null).length >= 1_000 - 256,
      'the refusals',
      20_000,
    );
    const codes = new Set(raws.map(({ bytes }) => closeCode(bytes())));
    expect([...codes].sort()).toEqual([1013, null].sort());
    for (const { socket } of raws) socket.destroy();
    await until(() => openFiles(gateway.pid).sockets <= before + 2, 'the sockets to be closed');
    expect(await socketResult(gateway, PATH)).toMatchObject({ opened: true, code: 1000 });
  });
});
