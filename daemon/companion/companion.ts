import { SingleFlight } from '../lib/async/single-flight.ts';
import type { Outbound } from '../lib/net/outbound.ts';
import { createEngineQuery } from '../slots/lifecycle/health.ts';
import { ownOrigin } from './address.ts';
import { type CompanionPlan, type CompanionSettings, readCompanionPlan } from './companion-env.ts';

/** State of the companion chat UI. */
export interface CompanionView {
  /** Null without a companion.env. */
  readonly plan: CompanionPlan | null;
  /** Whether it responds now. */
  readonly isResponding: boolean;
}

export interface Companion {
  /** As it is now, at most five seconds old. Never rejects. */
  refreshed(): Promise<CompanionView>;
  /** Returns the last known state, and refreshes it in the background when it is too old. */
  last(): CompanionView;
}

export interface CompanionDeps {
  settings: CompanionSettings & { readonly folders: { readonly config: string } };
  outbound: Pick<Outbound, 'dispatch'>;
  /** Aborts a request when the gateway stops. */
  signal: AbortSignal;
  clock?: () => number;
}

/** Callers without a key can request this, so the result is cached (ms). */
const AGE_MS = 5_000;
const LIMIT_MS = 1_500;
const HEALTH = { method: 'GET', path: '/health', limitMs: LIMIT_MS } as const;
const NO_COMPANION: CompanionView = { plan: null, isResponding: false };

/**
 * Reads the file of the chat UI and requests its health when there is one. Only the status of the response is
 * used.
 */
export function createCompanion(options: CompanionDeps): Companion {
  const { settings, signal, clock = () => performance.now() } = options;
  const query = createEngineQuery(options.outbound);
  let known = NO_COMPANION;
  let refreshedAt = -Infinity;

  const answers = async ({ bindHost, port }: CompanionPlan): Promise<boolean> => {
    const endpoint = { origin: ownOrigin(bindHost, port), headers: {} };
    return query(endpoint, HEALTH, signal).then(
      ({ status }) => status === 200,
      () => false,
    );
  };
  const flight = new SingleFlight<CompanionView>();
  const refreshNow = async (): Promise<CompanionView> => {
    const plan = await readCompanionPlan(settings.folders.config, settings);
    known = plan === null ? NO_COMPANION : { plan, isResponding: await answers(plan) };
    refreshedAt = clock();
    return known;
  };
  const refresh = () => flight.run('look', refreshNow);
  const isOld = () => clock() - refreshedAt > AGE_MS;
  return {
    refreshed: async () => (isOld() ? refresh() : known),
    last() {
      if (isOld() && !signal.aborted) void refresh();
      return known;
    },
  };
}
