import { test as base, expect } from 'playwright/test';
import type { Gateway } from '../../daemon/test/harness/gateway.ts';
import { monitorContext, type PageMonitor } from './page-monitor.ts';

/** A test that fails on console errors, policy violations and requests to other origins. */
export const test = base.extend<{ watch: PageMonitor }>({
  watch: [
    async ({ context }, use) => {
      const watch = await monitorContext(context);
      await use(watch);
      const faults = watch.faults();
      // A summary shows only the first line of a failure, so name the faults there.
      expect(faults, faults.join('; ')).toEqual([]);
    },
    { auto: true },
  ],
});

/** One daemon for all tests of a file: started before the first test, stopped and removed after the last. */
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
