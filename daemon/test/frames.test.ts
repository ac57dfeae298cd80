/** W01: frames that no honest client sends, and more of them than anybody needs. Each closes its own socket, memory stays flat. */
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
/** What may be held for one socket that is as bad as can be, many times over. */
const ROOM_MIB = 96;

const gateway = new OneGateway(startLocked);

const rssMib = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.pid}/status`, 'utf8'))?.[1]) / 1024;

/** The close code after these bytes; the socket must be gone soon after. */
async function after(...pieces: readonly Buffer[]): Promise<number | null> {
  const { socket, bytes, closed } = await rawSocket(gateway, PATH);
  for (const piece of pieces) socket.write(piece);
  await until(() => closeCode(bytes()) !== null || socket.destroyed, 'the close', 15_000);
  const code = closeCode(bytes());
  await closed;
  return code;
}

const one = (payload: string | Buffer, shape: FrameShape = {}) => [frame(payload, shape)];

describe('W01 a frame that must not be', () => {
  it.each<[string, number, Buffer[]]>([
    ['is not masked', 1002, one('{}', { mask: false })],
    ['has the first reserved bit', 1002, one('{}', { rsv: 4 })],
    ['has the third reserved bit', 1002, one('{}', { rsv: 1 })],
    ['has an opcode that nobody knows', 1002, one('{}', { opcode: 3 })],
    ['is a control frame in parts', 1002, one('x', { opcode: 9, fin: false })],
    ['is a control frame that is too long', 1002, one('x'.repeat(126), { opcode: 9 })],
    ['goes on with nothing', 1002, one('x', { opcode: 0 })],
    ['begins anew within a message', 1002, [frame('a', { fin: false }), frame('b')]],
    ['closes with a code that is none', 1002, one(Buffer.from([0x03, 0xed]), { opcode: 8 })],
    ['closes with half a code', 1002, one('x', { opcode: 8 })],
    ['is no UTF-8', 1007, one(Buffer.from([0xc3, 0x28]))],
    ['says that a terabyte comes', 1009, one('x', { declaredLength: 1n << 40n })],
    ['says more than can be counted', 1009, one('x', { declaredLength: (1n << 63n) - 1n })],
    ['is over the cap', 1009, one(Buffer.alloc(MIB + 1, 120))],
    [
      'is over the cap in parts',
      1009,
      [frame(Buffer.alloc(MIB, 120), { fin: false }), frame('xx', { opcode: 0 })],
    ],
  ])('%s: %d', async (_, code, pieces) => {
    expect(await after(...pieces)).toBe(code);
  });
});

describe('W01 more than anybody needs', () => {
  it('a message in a hundred thousand parts is given up', async () => {
    const part = frame('', { opcode: 0, fin: false });
    const many = Buffer.concat(Array.from({ length: 100_000 }, () => part));
    const before = rssMib();
    expect(await after(frame('', { fin: false }), many)).toBe(1008);
    expect(rssMib() - before).toBeLessThan(ROOM_MIB);
  });

  it('pings without end to one who reads no pong cost no memory, and nobody else waits', async () => {
    const { socket, closed } = await rawSocket(gateway, PATH);
    socket.on('error', () => {});
    socket.pause();
    const before = rssMib();
    const pings = Buffer.concat(Array.from({ length: 8_000 }, () => frame('x'.repeat(125), { opcode: 9 })));
    for (let sent = 0; sent < 64 * MIB && !socket.destroyed; sent += pings.length) {
      const room = socket.write(pings);
      if (room) continue;
      const drained = new Promise((resolve) => socket.once('drain', resolve));
      const late = new Promise<'stuck'>((resolve) => setTimeout(() => resolve('stuck'), 2_000).unref());
      expect((await send(gateway, 'GET', '/api/health')).status).toBe(200);
      if ((await Promise.race([drained, closed, late])) === 'stuck') break;
    }
    expect(rssMib() - before).toBeLessThan(ROOM_MIB);
    socket.destroy();
    await closed;
  });

  it('a thousand sockets that do nothing: the 256 that are let in go with their callers, all others are told to come later', async () => {
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
