import { setTimeout as pause } from 'node:timers/promises';
import { slotNotFound } from '../../contract/not-found.ts';
import type { SlotPlanView, SlotRecord, SlotSettingsView } from '../../contract/slots.ts';
import { redactSecretsIn } from '../../lib/text/redact.ts';
import { audit } from '../audit.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler, RouteContext } from '../handler.ts';
import { Query } from '../query.ts';

/** With `?wait=false`: how long a refusal may take before 202 is returned (ms). */
const REFUSAL_MS = 150;

/** `/api/slots…`: states, plans and the verbs of an admin. */
export function slotRoutes(deps: RouteDeps) {
  const verb =
    (action: 'load' | 'unload' | 'restart'): Handler =>
    (ctx) => {
      const { name } = namedSlot(deps, ctx);
      return respondAcceptedOrWait(deps, ctx, () => {
        audit(deps, ctx, `slot.${action}`, { slot: name });
        return deps.slots[action](name);
      });
    };
  const swap: Handler = (ctx) => {
    const { model_id: modelId, persist = true } = ctx.request.body as { model_id: string; persist?: boolean };
    const { name } = namedSlot(deps, ctx);
    return respondAcceptedOrWait(deps, ctx, () => {
      audit(deps, ctx, 'slot.swap', { slot: name, model: modelId, persist });
      return deps.slots.swap(name, { modelId, persist });
    });
  };
  /** The exact launch, with names of variables only and without secrets. */
  const plan: Handler = (ctx) => {
    const { name } = namedSlot(deps, ctx);
    const modelId = new Query(ctx).text('model_id');
    const view: SlotPlanView = deps.slots.plan(name, modelId === null ? {} : { modelId });
    ctx.body = redactSecretsIn(view, deps.settings.secrets());
  };
  /** Of variables only their names; no value of a secret. */
  const settings: Handler = (ctx) => {
    const view: SlotSettingsView = deps.slots.settings(namedSlot(deps, ctx).name);
    ctx.body = redactSecretsIn(view, deps.settings.secrets());
  };
  return {
    slots: (ctx) => {
      ctx.body = { slots: deps.slots.list() };
    },
    slot: (ctx) => {
      ctx.body = namedSlot(deps, ctx);
    },
    'slot.load': verb('load'),
    'slot.unload': verb('unload'),
    'slot.restart': verb('restart'),
    'slot.swap': swap,
    'slot.settings': settings,
    'slot.plan': plan,
  } satisfies Record<string, Handler>;
}

/** Returns the slot of the path. Throws `slot.not_found`. */
export function namedSlot(
  { slots }: Pick<RouteDeps, 'slots'>,
  { params }: Pick<RouteContext, 'params'>,
): SlotRecord {
  const name = params.name ?? '';
  const slot = slots.get(name);
  if (!slot) {
    const names = slots.views().map((view) => view.name);
    throw slotNotFound(name, names);
  }
  return slot;
}

/**
 * Starts the action after the query was validated, so that a refused request has no effect, and responds with
 * the record when the action is done. With `?wait=false`, responds with 202 and the current record as soon as the
 * action is not refused immediately. Events and the state of the slot report the result.
 */
async function respondAcceptedOrWait(
  deps: RouteDeps,
  ctx: RouteContext,
  start: () => Promise<SlotRecord>,
): Promise<void> {
  if (new Query(ctx).flag('wait', true)) {
    ctx.body = await start();
    return;
  }
  const act = start();
  const soon = new AbortController();
  const later = pause(REFUSAL_MS, null, { signal: soon.signal }).catch(() => null);
  try {
    const done = await Promise.race([act, later]);
    if (done !== null) {
      ctx.body = done;
      return;
    }
  } finally {
    soon.abort();
  }
  act.catch((cause: unknown) =>
    deps.log.debug({ err: cause, request: ctx.state.id }, 'an accepted action failed'),
  );
  ctx.status = 202;
  ctx.body = namedSlot(deps, ctx);
}
