import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from 'koa';
import { GatewayError } from '../../contract/errors.ts';
import type { SlotPlanView, SlotRecord, SlotSettingsView } from '../../contract/slots.ts';
import { redactSecretsIn } from '../../lib/text/redact.ts';
import { audit } from '../audit.ts';
import type { RouteDeps } from '../deps.ts';
import type { Call, Handler } from '../handler.ts';
import { Query } from '../query.ts';

/** With `?wait=false`: how long a refusal may take before the answer is "under way" (ms). */
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
  /** The exact launch: of variables only their names; no value of a secret, whatever a slot file holds. */
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

/** The slot that the path names, a key of a map and nothing else. Throws `slot.not_found`. */
export function namedSlot(deps: Pick<RouteDeps, 'slots'>, call: Call): SlotRecord {
  const slot = deps.slots.get(call.params.name ?? '');
  if (!slot) throw new GatewayError('slot.not_found');
  return slot;
}

/**
 * Begins the act once the query has been read, so that a request that is refused has done nothing, and answers the record
 * when the act has its outcome. With `?wait=false` 202 and the record as it is as soon as it is clear that the act is not
 * refused at once; what becomes of it is told by events, and by the slot's state.
 */
async function respondAcceptedOrWait(
  deps: RouteDeps,
  ctx: Context,
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
