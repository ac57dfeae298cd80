/**
 * A mixed load on a gateway whose slots are loaded and unloaded meanwhile, with its memory and file descriptors measured
 * from outside. It takes 6 seconds, or `SVC_SOAK_MINUTES` under `npm run soak`. The report is artifacts/soak.json;
 * scripts/soak-graph.ts draws it.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startTicksOf } from '../../../daemon/lib/process/process-identity.ts';
import { until } from '../../../daemon/test/harness/gateway.ts';
import { send } from '../../../daemon/test/harness/http.ts';
import { atRest, mixedLoad } from '../../../daemon/test/harness/mixed-load.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { openFiles } from '../../../daemon/test/harness/open-files.ts';
import { randomFrom, seed } from '../../../daemon/test/harness/scale.ts';
import {
  drift,
  ProcessSampler,
  peakGrowth,
  type SoakReport,
} from '../../../daemon/test/harness/soak-report.ts';
import { startTiny } from '../../../daemon/test/harness/tiny-gateway.ts';

const MINUTES = Number(process.env.SVC_SOAK_MINUTES) || 0;
const SHORT_MS = 6_000;
const MS = MINUTES > 0 ? MINUTES * 60_000 : SHORT_MS;
const CALLERS = 8;
/** Sample interval: 15 s in a long run, shorter in a short one. */
const CHURN_MS = MINUTES > 0 ? 15_000 : 700;
/** Keep-alive connections to the engine, and one descriptor of tolerance. */
const MAX_RETAINED = 5;
/** Maximum drift in percent per hour. Checked for long runs only, because a run of a minute is all warm-up. */
const MAX_DRIFT = 5 / 24;
const LONG_MINUTES = 120;
/** Maximum excess of the last third over the earlier peak, in runs of half an hour or more. */
const MAX_CLIMB = 1.25;
const MIDDLING_MINUTES = 30;

const gateway = new OneGateway(() =>
  startTiny({ files: { 'config/slots/agent.toml': 'parallel = 4\ncontext = 8192\n' } }),
);

/** Sends one request, so that resources that are opened once are open. */
const warmUp = () =>
  send(gateway, 'POST', '/v1/chat/completions', {
    body: { model: 'agent', messages: [{ role: 'user', content: 'a' }], max_tokens: 5 },
  });

it('loses no request and leaks no descriptor', { timeout: MS + 60_000 }, async () => {
  expect((await warmUp()).status).toBe(200);
  await atRest(gateway);
  const before = openFiles(gateway.pid).all;
  const ticks = startTicksOf(gateway.pid);
  const watch = new ProcessSampler(gateway.pid, Math.max(200, Math.min(10_000, MS / 500)));
  const began = performance.now();
  const load = await mixedLoad(gateway, {
    callers: CALLERS,
    churnMs: CHURN_MS,
    random: randomFrom(seed('soak')),
    over: () => performance.now() - began > MS,
  });
  await warmUp();
  await atRest(gateway);
  let after = 0;
  await until(
    () => {
      after = openFiles(gateway.pid).all;
      return after <= before + MAX_RETAINED;
    },
    'the descriptors to be closed',
    10_000,
  ).catch(() => {});
  watch.sample();
  const samples = watch.stop();
  const report: SoakReport = {
    made_at: new Date().toISOString(),
    node: process.version,
    seconds: Math.round((performance.now() - began) / 1000),
    callers: CALLERS,
    requests: load.counts,
    churned: load.churned,
    lost: load.lost,
    restarts: startTicksOf(gateway.pid) === ticks ? 0 : 1,
    fds: { before, after },
    rss_drift_percent_per_hour: drift(samples),
    samples,
  };
  const folder = join(import.meta.dirname, '..', '..', '..', 'artifacts');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'soak.json'), `${JSON.stringify(report, null, 1)}\n`);
  expect(report.lost).toEqual([]);
  expect(report.restarts).toBe(0);
  expect(after).toBeLessThanOrEqual(before + MAX_RETAINED);
  expect(Object.values(report.requests).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(2 * CALLERS);
  if (MINUTES >= LONG_MINUTES) expect(report.rss_drift_percent_per_hour).toBeLessThan(MAX_DRIFT);
  if (MINUTES >= MIDDLING_MINUTES) expect(peakGrowth(samples)).toBeLessThan(MAX_CLIMB);
});
