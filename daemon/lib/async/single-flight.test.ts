import { describe, expect, it } from 'vitest';
import { SingleFlight } from './single-flight.ts';

function gate() {
  let open: (value: string) => void = () => {};
  let fail: (reason: Error) => void = () => {};
  const promise = new Promise<string>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { promise, open, fail };
}

describe('SingleFlight', () => {
  it('P09: two callers share one run', async () => {
    const flights = new SingleFlight<string>();
    const blocker = gate();
    let runs = 0;
    const start = () => {
      runs += 1;
      return blocker.promise;
    };
    const both = [flights.run('a', start), flights.run('a', start, new AbortController().signal)];
    blocker.open('done');
    expect(await Promise.all(both)).toEqual(['done', 'done']);
    expect(runs).toBe(1);
    expect(flights.size).toBe(0);
  });

  it('does not cache a failure', async () => {
    const flights = new SingleFlight<string>();
    await expect(
      flights.run('a', () => {
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await flights.run('a', async () => 'yes')).toBe('yes');
  });

  it('aborts the run when the last caller aborts, not before', async () => {
    const flights = new SingleFlight<string>();
    const [one, two] = [new AbortController(), new AbortController()];
    let inner: AbortSignal | undefined;
    const start = (signal: AbortSignal) => {
      inner = signal;
      return gate().promise;
    };
    const first = flights.run('a', start, one.signal);
    const second = flights.run('a', start, two.signal);
    one.abort(new Error('disconnected'));
    await expect(first).rejects.toThrow('disconnected');
    expect(inner?.aborted).toBe(false);
    two.abort(new Error('disconnected too'));
    await expect(second).rejects.toThrow('disconnected too');
    expect(inner?.aborted).toBe(true);
    expect(await flights.run('a', async () => 'fresh')).toBe('fresh');
  });

  it('a caller without a signal keeps the run going', async () => {
    const flights = new SingleFlight<string>();
    const blocker = gate();
    const caller = new AbortController();
    let inner: AbortSignal | undefined;
    const longRun = flights.run('a', (signal) => {
      inner = signal;
      return blocker.promise;
    });
    const aborted = flights.run('a', () => blocker.promise, caller.signal);
    caller.abort(new Error('disconnected'));
    await expect(aborted).rejects.toThrow('disconnected');
    expect(inner?.aborted).toBe(false);
    blocker.open('ok');
    expect(await longRun).toBe('ok');
  });

  it('an aborted caller starts nothing', async () => {
    const flights = new SingleFlight<string>();
    let runs = 0;
    const start = async () => String(++runs);
    await expect(flights.run('a', start, AbortSignal.abort(new Error('early')))).rejects.toThrow('early');
    expect(runs).toBe(0);
  });
});
