import { describe, expect, it, vi } from 'vitest';
import { Job } from './job.ts';

/** Work that ends on demand. */
function held<R>(): {
  work: (signal: AbortSignal) => Promise<R>;
  end: (result: R) => void;
  fail: (error: Error) => void;
} {
  let end: (result: R) => void = () => {};
  let fail: (error: Error) => void = () => {};
  const promise = new Promise<R>((resolve, reject) => {
    end = resolve;
    fail = reject;
  });
  return {
    work: (signal) => {
      signal.addEventListener('abort', () => fail(new Error('aborted')));
      return promise;
    },
    end,
    fail,
  };
}

describe('the job of a mode', () => {
  it('runs one request at a time, and keeps the last result during the next', async () => {
    const job = new Job<string>();
    await job.run(async () => 'one');
    const { work, end } = held<string>();
    const second = job.run(work);
    expect(job.get()).toMatchObject({ phase: 'running', result: 'one' });
    await job.run(async () => 'ignored');
    expect(job.get().phase).toBe('running');
    end('two');
    await second;
    expect(job.get()).toMatchObject({ phase: 'done', result: 'two', failure: null });
  });

  it('keeps partial results of a failed request', async () => {
    const job = new Job<string>();
    await job.run(async (_, report) => {
      report('half');
      throw new Error('no more');
    });
    expect(job.get()).toMatchObject({ phase: 'failed', result: 'half', failure: { message: 'no more' } });
  });

  it('reports stopped instead of failed after a stop', async () => {
    const job = new Job<string>();
    const { work } = held<string>();
    const running = job.run(work);
    job.stop();
    await running;
    expect(job.get()).toMatchObject({ phase: 'stopped', failure: null });
  });

  it('notifies subscribers, also of partial results', async () => {
    vi.useFakeTimers();
    try {
      const job = new Job<string>();
      const results: (string | null)[] = [];
      job.state.subscribe(() => results.push(job.get().result));
      const { work, end } = held<string>();
      const running = job.run((signal, report) => {
        report('a');
        report('ab');
        return work(signal);
      });
      vi.advanceTimersByTime(100);
      expect(results.at(-1)).toBe('ab');
      end('abc');
      await running;
      expect(results.at(-1)).toBe('abc');
    } finally {
      vi.useRealTimers();
    }
  });
});
