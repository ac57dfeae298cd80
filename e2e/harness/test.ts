import { test as base, expect } from 'playwright/test';
import type { Gateway } from '../../daemon/test/harness/gateway.ts';
import { type Watch, watchContext } from './watch.ts';

/** A test whose pages may not print one error, break the policy or ask another origin. */
export const test = base.extend<{ watch: Watch }>({
  watch: [
    async ({ context }, use) => {
      const watch = await watchContext(context);
      await use(watch);
      const faults = watch.faults();
      // A summary shows the first line of a failure alone: it names the faults.
      expect(faults, faults.join('; ')).toEqual([]);
    },
    { auto: true },
  ],
});

/** One real daemon for all tests of a file: started before the first, ended and its folders removed after the last. */
export function daemonOf(start: () => Promise<Gateway>): () => Gateway {
  let gateway: Gateway | undefined;
  test.beforeAll(async () => {
    gateway = await start();
  });
  test.afterAll(async () => {
    await gateway?.stop();
    gateway?.remove();
  });
  return () => {
    if (gateway === undefined) throw new Error('the daemon is not started yet');
    return gateway;
  };
}

export { expect };
