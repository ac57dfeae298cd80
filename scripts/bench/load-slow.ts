import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from './http-request.ts';
import type { Figures } from './load-closed.ts';
import { laneOf } from './load-sse.ts';
import { memoryMb } from './process-figures.ts';
import { streamRequest } from './sse-stream.ts';
import type { Target } from './targets.ts';

const READERS = 20;
/** Each answer has about 40 MB, sent as fast as it is read. */
const LOAD = { tokens: 170_000, everyUs: 0 };
/** Time without a read before the memory is measured. */
const STALLED_MS = 2_000;
const CLOSED_WITHIN_MS = 3_000;

/** Opens a client that reads the start of an answer and then stops. Returns null when no answer starts. */
function stalled(target: Target, index: number): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect({ host: target.url.hostname, port: Number(target.url.port) });
    socket.once('error', () => resolve(null)).once('close', () => resolve(null));
    socket.on('error', () => {});
    socket.once('data', (bytes) => {
      socket.pause();
      resolve(bytes.toString('latin1').startsWith('HTTP/1.1 200') ? socket : null);
    });
    socket.write(streamRequest(target, LOAD, laneOf(index)));
  });
}

/** Measures the memory for clients that stop reading long answers, and whether the model server detects their disconnects. */
export async function slowReaders(target: Target, direct: Target): Promise<Figures> {
  const aborted = async (): Promise<number> =>
    (JSON.parse(await text(`${direct.url.origin}/stats`)) as { aborted: number }).aborted;
  const idleMb = memoryMb(target.pid, 'VmRSS');
  const before = await aborted();
  const sockets = await Promise.all(Array.from({ length: READERS }, (_, index) => stalled(target, index)));
  await sleep(STALLED_MS);
  const bufferedMb = memoryMb(target.pid, 'VmRSS') - idleMb;
  for (const socket of sockets) socket?.destroy();
  const end = performance.now() + CLOSED_WITHIN_MS;
  let closed = 0;
  while (closed < READERS && performance.now() < end) {
    await sleep(10);
    closed = (await aborted()) - before;
  }
  return {
    buffered_mb: bufferedMb,
    closed_of_20: closed,
    bad: sockets.filter((socket) => socket === null).length,
  };
}
