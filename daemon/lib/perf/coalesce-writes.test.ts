import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { coalesceWrites, mergeChunks } from './coalesce-writes.ts';

const latin1 = (chunk: string) => ({ chunk, encoding: 'latin1' as const });
const bytes = (chunk: Buffer) => ({ chunk, encoding: 'buffer' as const });

test('merges headers and bodies into one chunk, byte for byte', () => {
  const body = Buffer.from('grün', 'utf8');
  const joined = mergeChunks([latin1('HTTP/1.1 200 \xff\r\n\r\n'), bytes(body), latin1('')]);
  expect(joined).toEqual(Buffer.concat([Buffer.from('HTTP/1.1 200 \xff\r\n\r\n', 'latin1'), body]));
});

test('does not merge long chunks or multi-byte text', () => {
  expect(mergeChunks([latin1('a'), bytes(Buffer.alloc(Buffer.poolSize))])).toBeNull();
  expect(mergeChunks([{ chunk: 'grün', encoding: 'utf8' }, latin1('a')])).toBeNull();
});

/** A connection whose peer records what it receives. */
async function pair(): Promise<{
  sender: Socket;
  receiver: Socket;
  received: () => Buffer;
  close: () => void;
}> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sender = connect((server.address() as { port: number }).port, '127.0.0.1');
  const [receiver] = (await once(server, 'connection')) as [Socket];
  const received: Buffer[] = [];
  receiver.on('data', (chunk) => received.push(chunk));
  const close = () => {
    sender.destroy();
    server.close();
  };
  return { sender, receiver, received: () => Buffer.concat(received), close };
}

test('a socket writes short chunks together and long ones separately, in order', async () => {
  const { sender, received, close } = await pair();
  coalesceWrites(sender);
  const long = Buffer.alloc(100_000, 'x');
  sender.cork();
  sender.write('head\r\n', 'latin1');
  sender.write(Buffer.from('body'));
  sender.uncork();
  sender.cork();
  sender.write('ü', 'utf8');
  sender.write(long);
  sender.uncork();
  sender.end('end');
  const want = Buffer.concat([Buffer.from('head\r\nbodyü'), long, Buffer.from('end')]);
  while (received().length < want.length) await sleep(5);
  expect(received().equals(want)).toBe(true);
  close();
});

test('calls the write callback after the write, or with its error', async () => {
  const { sender, close } = await pair();
  coalesceWrites(sender);
  const out = new Promise<void>((resolve) => {
    sender.cork();
    sender.write('a', 'latin1');
    sender.write('b', 'latin1', () => resolve());
    sender.uncork();
  });
  await out;
  sender.on('error', () => {});
  sender.destroy();
  const failed = await new Promise<Error | null | undefined>((resolve) => {
    sender.write('c', 'latin1', resolve);
  });
  expect(failed).toBeInstanceOf(Error);
  close();
});
