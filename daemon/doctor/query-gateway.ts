import type { z } from 'zod';
import { HardwareResponse } from '../contract/hardware.ts';
import { ModelsResponse } from '../contract/models.ts';
import { SlotsResponse } from '../contract/slots.ts';
import { HealthResponse, StatusOverview } from '../contract/system.ts';
import type { Outbound } from '../lib/net/outbound.ts';
import { createEngineQuery } from '../slots/lifecycle/health.ts';
import type { GatewayState } from './doctor-input.ts';

const LIMIT_MS = 2_500;

/** Requests a document. Returns `refused` for a response of another form. Rejects when nothing responds. */
type Query = <T>(path: string, schema: z.ZodType<T>) => Promise<T | 'refused'>;

function createQuery(outbound: Pick<Outbound, 'dispatch'>, url: string, key: string | null): Query {
  const query = createEngineQuery(outbound);
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  const { origin, pathname } = new URL(url);
  const base = pathname.replace(/\/+$/, '');
  return async (path, schema) => {
    const question = { method: 'GET', path: `${base}${path}`, limitMs: LIMIT_MS } as const;
    const { body } = await query({ origin, headers }, question, AbortSignal.timeout(LIMIT_MS));
    try {
      const read = schema.safeParse(JSON.parse(body));
      return read.success ? read.data : 'refused';
    } catch {
      return 'refused';
    }
  };
}

const orNull = <T>(answer: Promise<T | 'refused'>): Promise<T | null> =>
  answer.then(
    (one) => (one === 'refused' ? null : one),
    () => null,
  );

/**
 * Requests health, status, hardware, models and slots from a gateway. The key is sent only to a server that identifies
 * itself as a gateway. Never rejects.
 */
export async function queryGateway(
  outbound: Pick<Outbound, 'dispatch'>,
  url: string,
  key: string | null,
): Promise<GatewayState> {
  const nothing = { url, version: null, status: null, hardware: null, modelProblems: [], slots: [] };
  const open = await createQuery(outbound, url, null)('/api/health', HealthResponse).catch(() => null);
  if (open === null) return { ...nothing, state: 'down' };
  if (open === 'refused') return { ...nothing, state: 'silent' };
  const query = createQuery(outbound, url, key);
  const [status, hardware, models, slots] = await Promise.all([
    orNull(query('/api/status', StatusOverview)),
    orNull(query('/api/hardware', HardwareResponse)),
    orNull(query('/api/models', ModelsResponse.pick({ problems: true }))),
    orNull(query('/api/slots', SlotsResponse)),
  ]);
  const { version } = open;
  const lists = { modelProblems: models?.problems ?? [], slots: slots?.slots ?? [] };
  return { state: 'up', url, version, status, hardware, ...lists };
}
