import { type ErrorCode, GatewayError } from '../../contract/errors.ts';
import type { EngineDiagnosis } from '../../slots/lifecycle/controller-deps.ts';

/** The slot or upstream that a request was sent to. */
export interface NamedTarget {
  readonly slot: string | null;
  readonly upstream: string | null;
}

/** Failures of a target whose texts do not name it. */
const UNNAMED: ReadonlySet<ErrorCode> = new Set([
  'dispatch.upstream_unavailable',
  'dispatch.upstream_timeout',
  'upstream.error',
  'upstream.auth_failed',
  'slot.no_memory',
]);
/** How texts of the gateway refer to a target that they do not know. */
const OWN_WORDS = /\b([Tt])he (image engine|engine or upstream)\b/;
/** Words that an engine may use as well. */
const ANY_WORDS = /\b([Tt])he (engine|upstream)\b/;

const capital = (text: string, like: string): string =>
  like === 'T' ? text.replace(/^./, (first) => first.toUpperCase()) : text;

function named(text: string, { slot, upstream }: NamedTarget, isOwnText: boolean): string {
  const words = OWN_WORDS.test(text) ? OWN_WORDS : ANY_WORDS;
  if (words === ANY_WORDS && !isOwnText) return text;
  return text.replace(words, (found, first: string, noun: string) => {
    if (noun === 'upstream' && slot !== null) return found;
    const kind = noun === 'image engine' ? noun : 'engine';
    return capital(slot === null ? `upstream ${upstream}` : `the ${kind} of slot ${slot}`, first);
  });
}

/**
 * Returns a failure whose message names the slot or upstream that was called. A message of the engine itself stays as it
 * is for an upstream and for a fault of the request. Other failures are returned as they are. Pure.
 */
export function nameTarget(failure: GatewayError, target: NamedTarget): GatewayError {
  const name = target.slot ?? target.upstream;
  if (!UNNAMED.has(failure.code) || name === null || failure.options.details?.slot !== undefined)
    return failure;
  const isOwnText = failure.options.details?.upstream_status === undefined;
  const message = named(failure.message, target, isOwnText);
  if (target.slot === null) return message === failure.message ? failure : failure.with({ message });
  const isUnclear = failure.status >= 500 && !message.includes(name);
  return failure.with({ message: isUnclear ? `Slot ${name}: ${message}` : message, details: { slot: name } });
}

/**
 * Returns the failure of a call to a slot with what its engine reported. `withLines`: the caller may read the output of
 * engines. Pure.
 */
export function explainFailure(
  failure: GatewayError,
  slot: string,
  { diagnosis: { reason, lines }, withLines }: { diagnosis: EngineDiagnosis; withLines: boolean },
): GatewayError {
  const details = {
    slot,
    ...(reason !== null && { reason }),
    ...(withLines && lines.length > 0 && { log: lines }),
  };
  const message =
    reason === null
      ? nameTarget(failure, { slot, upstream: null }).message
      : `Slot ${slot} failed while it served this request: ${reason.replace(/^The /, 'the ')}`;
  return failure.with({ message, details });
}

/** Whether a failure came from the connection to the target, or from the target itself. */
export const isTargetFailure = (failure: unknown): failure is GatewayError =>
  failure instanceof GatewayError && UNNAMED.has(failure.code) && failure.status >= 500;
