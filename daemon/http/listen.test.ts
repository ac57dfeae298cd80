import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SetupError } from '../lib/setup-error.ts';
import { recordedLog } from '../lib/testing/recorded-log.ts';
import { addressWaitFor, listen } from './listen.ts';

/** An address of a documentation range, which no machine has. */
const ABSENT = '192.0.2.77';

let server: Server;
beforeEach(() => {
  server = createServer();
});
afterEach(() => new Promise<void>((resolve) => void server.close(() => resolve())));

const refusal = async (work: Promise<void>): Promise<SetupError> => {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SetupError);
  return error as SetupError;
};

describe('listen', () => {
  it('waits for an address that appears late, and logs that once', async () => {
    const { log, lines } = recordedLog();
    const real = server.listen.bind(server);
    let tries = 0;
    vi.spyOn(server, 'listen').mockImplementation(((options: object) => {
      tries += 1;
      return real(tries < 3 ? options : { port: 0, host: '127.0.0.1' });
    }) as never);
    await listen(server, { host: ABSENT, port: 0, addressWaitMs: 60_000, retryIntervalMs: 5, log });
    expect(server.listenerCount('listening')).toBe(0);
    expect({ tries, listening: server.listening }).toEqual({ tries: 3, listening: true });
    expect(lines).toMatchObject([{ host: ABSENT, reason: 'EADDRNOTAVAIL' }]);
  });

  describe('a name that resolves late', () => {
    /** The first attempt fails as before the resolver is up; the next ones are real. */
    const listenLate = (checkAddress: (address: string) => Promise<void>) => {
      const real = server.listen.bind(server);
      vi.spyOn(server, 'listen')
        .mockImplementationOnce(() => {
          const error = Object.assign(new Error('late'), { code: 'EAI_AGAIN' });
          setImmediate(() => server.emit('error', error));
          return server;
        })
        .mockImplementation(real as never);
      const { log } = recordedLog();
      return listen(server, {
        host: 'localhost',
        port: 0,
        addressWaitMs: 60_000,
        retryIntervalMs: 5,
        checkAddress,
        log,
      });
    };

    it('is checked by its address, which is the address that is opened', async () => {
      const judged: string[] = [];
      await listenLate(async (address) => void judged.push(address));
      expect(judged).toEqual([(server.address() as AddressInfo).address]);
    });

    it('is not opened when the address is not permitted', async () => {
      const work = listenLate(async () => {
        throw new SetupError('It is reachable from the internet.', 'Set a key.');
      });
      expect((await refusal(work)).message).toBe('It is reachable from the internet.');
      expect(server.listening).toBe(false);
    });
  });

  it('gives up after its wait time, with advice', async () => {
    const { log } = recordedLog();
    const began = performance.now();
    const work = listen(server, { host: ABSENT, port: 0, addressWaitMs: 60, retryIntervalMs: 5, log });
    const { message, advice } = await refusal(work);
    expect(message).toBe(`Cannot listen on ${ABSENT} port 0: EADDRNOTAVAIL.`);
    expect(advice).toContain('SVC_BIND_HOST');
    expect(performance.now() - began).toBeGreaterThanOrEqual(60);
  });

  it('a service waits for less than the start timeout of its unit; other processes do not wait', () => {
    const unit = readFileSync(join(import.meta.dirname, '../../systemd/svc-gateway.service'), 'utf8');
    const limit = Number(/^TimeoutStartSec=(\d+)$/m.exec(unit)?.[1]) * 1000;
    expect(addressWaitFor({ NOTIFY_SOCKET: '/run/notify' })).toBeLessThanOrEqual(limit / 2);
    expect(addressWaitFor({})).toBe(0);
  });

  it.each([
    ['without a wait time', ABSENT, 0],
    ['for an error that waiting does not fix', '127.0.0.1', 60_000],
  ])('refuses at once %s', async (_name, host, addressWaitMs) => {
    const { log, lines } = recordedLog();
    const other = createServer();
    await listen(other, { host: '127.0.0.1', port: 0, log });
    const { port } = other.address() as { port: number };
    await refusal(listen(server, { host, port, addressWaitMs, log }));
    expect(lines).toEqual([]);
    await new Promise<void>((resolve) => void other.close(() => resolve()));
  });
});
