import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_KEY } from './gateway-under-test.ts';
import { sendRequest } from './http-request.ts';
import type { Target } from './targets.ts';

/** Number of open dashboards. */
const READERS = 1;
const SCRAPE_EVERY_MS = 1_000;
const ADMIN = { Authorization: `Bearer ${ADMIN_KEY}` };
const OFF = { logLevel: 'info', captureBodies: false };

type End = () => Promise<void>;

/** Reads the event stream of the dashboard with the admin key. */
async function readEvents(ours: Target): Promise<End> {
  const readers = Array.from({ length: READERS }, () =>
    request(new URL('/api/events', ours.url), { agent: false, headers: ADMIN }).end(),
  );
  for (const reader of readers) {
    const [answer] = await once(reader, 'response');
    answer.on('error', () => {}).resume();
    reader.on('error', () => {});
  }
  return async () => readers.forEach((reader) => void reader.destroy());
}

/** Scrapes the metrics every second, the shortest usual interval of Prometheus. */
async function scrape(ours: Target): Promise<End> {
  const stop = new AbortController();
  const loop = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await sendRequest(new URL('/api/metrics/prometheus', ours.url), { headers: ADMIN });
      await sleep(SCRAPE_EVERY_MS, undefined, { signal: stop.signal }).catch(() => {});
    }
  };
  const stopped = loop();
  return async () => {
    stop.abort();
    await stopped;
  };
}

/** Changes settings that apply immediately, for the duration of a run. */
const withSettings =
  (values: Readonly<Record<string, unknown>>) =>
  async (ours: Target): Promise<End> => {
    await setTo(ours, { ...OFF, ...values });
    return () => setTo(ours, OFF);
  };

async function setTo(ours: Target, values: Readonly<Record<string, unknown>>): Promise<void> {
  const headers = { ...ADMIN, 'content-type': 'application/json' };
  const body = JSON.stringify({ values });
  const { status, body: responseBody } = await sendRequest(new URL('/api/settings', ours.url), {
    method: 'PUT',
    headers,
    body,
  });
  if (status !== 200) throw new Error(`the settings were refused: ${responseBody}`);
}

/** Work that may run in parallel to the hot path. `all` combines several. */
const SIDE_LOADS: Readonly<Record<string, (ours: Target) => Promise<End>>> = {
  events: readEvents,
  metrics: scrape,
  debug: withSettings({ logLevel: 'debug' }),
  texts: withSettings({ captureBodies: true }),
  async all(ours) {
    const ends = [
      await readEvents(ours),
      await scrape(ours),
      await withSettings({ logLevel: 'debug' })(ours),
    ];
    return async () => {
      for (const end of ends) await end();
    };
  },
};

/** The same gateway without (`off`) and with each side load. */
export const withSideLoads = (ours: Target): Target[] => [
  { ...ours, name: 'off' },
  ...Object.entries(SIDE_LOADS).map(([name, begin]) => ({ ...ours, name, startSideLoad: () => begin(ours) })),
];
