import { SingleFlight } from '../lib/async/single-flight.ts';
import type { Outbound } from '../lib/net/outbound.ts';
import { createEngineQuery } from '../slots/lifecycle/health.ts';
import { ownOrigin } from './address.ts';
import { type CompanionPlan, type CompanionSettings, readCompanionPlan } from './companion-env.ts';

/** What is known of the chat UI beside the gateway. */
export interface CompanionView {
  /** Null without a companion.env: nobody asked for it. */
  readonly plan: CompanionPlan | null;
  /** Whether it answers now. */
  readonly isResponding: boolean;
}

export interface Companion {
  /** As it is now, at most five seconds old. Never rejects. */
  refreshed(): Promise<CompanionView>;
  /** As it was when last looked at; looks again in the background when that is too old. */
  last(): CompanionView;
}

export interface CompanionDeps {
  settings: CompanionSettings & { readonly folders: { readonly config: string } };
  outbound: Pick<Outbound, 'dispatch'>;
  /** Ends a question when the gateway stops. */
  signal: AbortSignal;
  clock?: () => number;
}

/** Callers without a key ask for it: so long an answer is kept (ms). */
const AGE_MS = 5_000;
const LIMIT_MS = 1_500;
const HEALTH = { method: 'GET', path: '/health', limitMs: LIMIT_MS } as const;
const NO_COMPANION: CompanionView = { plan: null, isResponding: false };

/** Looks at the chat UI: reads its file, and asks its port only when there is one. Nothing of it is trusted but its status. */
export function createCompanion(options: CompanionDeps): Companion {
  const { settings, signal, clock = () => performance.now() } = options;
  const ask = createEngineQuery(options.outbound);
  let known = NO_COMPANION;
  let refreshedAt = -Infinity;

  const answers = async ({ bindHost, port }: CompanionPlan): Promise<boolean> => {
    const endpoint = { origin: ownOrigin(bindHost, port), headers: {} };
    return ask(endpoint, HEALTH, signal).then(
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
