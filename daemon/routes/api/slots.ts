import { setTimeout as pause } from 'node:timers/promises';
import { slotNotFound } from '../../contract/not-found.ts';
import type { SlotPlanView, SlotRecord, SlotSettingsView } from '../../contract/slots.ts';
import { redactSecretsIn } from '../../lib/text/redact.ts';
import { audit } from '../audit.ts';
import type { RouteDeps } from '../deps.ts';
import type { LegacyCall as Call, LegacyHandler as Handler, RouteContext } from '../handler.ts';
import { Query } from '../query.ts';

/** With `?wait=false`: how long a refusal may take before 202 is returned (ms). */
const REFUSAL_MS = 150;

/** `/api/slots…`: states, plans and the verbs of an admin. */
export function slotRoutes(deps: RouteDeps) {
  const verb =
    (action: 'load' | 'unload' | 'restart'): Handler =>
    (ctx, call) => {
      const { name } = namedSlot(deps, call);
      return respondAcceptedOrWait(deps, ctx, call, () => {
        audit(deps, call, `slot.${action}`, { slot: name });
        return deps.slots[action](name);
      });
    };
  const swap: Handler = (ctx, call, body) => {
    const { model_id: modelId, persist = true } = body as { model_id: string; persist?: boolean };
    const { name } = namedSlot(deps, call);
    return respondAcceptedOrWait(deps, ctx, call, () => {
      audit(deps, call, 'slot.swap', { slot: name, model: modelId, persist });
      return deps.slots.swap(name, { modelId, persist });
    });
  };
  /** The exact launch, with names of variables only and without secrets. */
  const plan: Handler = (_ctx, call): SlotPlanView => {
    const { name } = namedSlot(deps, call);
    const modelId = new Query(call).text('model_id');
    return redactSecretsIn(
      deps.slots.plan(name, modelId === null ? {} : { modelId }),
      deps.settings.secrets(),
    );
  };
  /** Of variables only their names; no value of a secret. */
  const settings: Handler = (_ctx, call): SlotSettingsView => {
    const { name } = namedSlot(deps, call);
    return redactSecretsIn(deps.slots.settings(name), deps.settings.secrets());
  };
  return {
    slots: () => ({ slots: deps.slots.list() }),
    slot: (_ctx, call) => namedSlot(deps, call),
    'slot.load': verb('load'),
    'slot.unload': verb('unload'),
    'slot.restart': verb('restart'),
    'slot.swap': swap,
    'slot.settings': settings,
    'slot.plan': plan,
  } satisfies Record<string, Handler>;
}

/** Returns the slot of the path. Throws `slot.not_found`. */
export function namedSlot(deps: Pick<RouteDeps, 'slots'>, call: Call): SlotRecord {
  const name = call.params.name ?? '';
  const slot = deps.slots.get(name);
  if (!slot) {
    const names = deps.slots.views().map((view) => view.name);
    throw slotNotFound(name, names);
  }
  return slot;
}

/**
 * Starts the action after the query was validated, so that a refused request has no effect, and returns the
 * record when the action is done. With `?wait=false`, returns 202 and the current record as soon as the
 * action is not refused immediately. Events and the state of the slot report the result.
 */
async function respondAcceptedOrWait(
  deps: RouteDeps,
  ctx: RouteContext,
  call: Call,
  start: () => Promise<SlotRecord>,
) {
  if (new Query(call).flag('wait', true)) return start();
  const act = start();
  const soon = new AbortController();
  const later = pause(REFUSAL_MS, null, { signal: soon.signal }).catch(() => null);
  try {
    const done = await Promise.race([act, later]);
    if (done !== null) return done;
  } finally {
    soon.abort();
  }
  act.catch((cause: unknown) =>
    deps.log.debug({ err: cause, request: call.id }, 'an accepted action failed'),
  );
  ctx.status = 202;
  return namedSlot(deps, call);
}
