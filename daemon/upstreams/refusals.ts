import { GatewayError } from '../contract/errors.ts';
import type { Blockage } from './call-permission.ts';
import type { Liveness } from './liveness.ts';
import type { UpstreamConfig } from './upstream-file.ts';

/** The upstream is paused, down, gone or at its daily limit. Nothing was sent to it. */
export class UpstreamNotCalled extends GatewayError {}

/** Why a call to an upstream is not tried. */
export const unavailable = (message: string): GatewayError =>
  new UpstreamNotCalled('dispatch.upstream_unavailable', { message });

/**
 * The breaker is open after failures; waiting helps. The change of state is logged, so that a refused call is
 * not.
 */
export const circuitOpen = (upstream: string, { breaker, model, waitMs }: Blockage): GatewayError => {
  const subject = model ? `Model ${model} of upstream ${upstream}` : `Upstream ${upstream}`;
  const cause = breaker.cause === null ? '' : ` Last error: ${breaker.cause}`;
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new UpstreamNotCalled('dispatch.upstream_unavailable', {
    message: `${subject} failed ${breaker.failures} times in a row.${cause} Next attempt in ${seconds} s.`,
    retryAfterS: waitMs / 1000,
    isLogged: true,
  });
};

/** It is down, and no byte of an answer came. Another upstream may serve the request. */
export class UpstreamDown extends GatewayError {}

/** Ends a call of an upstream that is down. `isWaiting`: no byte of an answer came. */
export function stoppedResponding(upstream: string, cause: string | null, isWaiting: boolean): GatewayError {
  const options = {
    message: `Upstream ${upstream} stopped responding. ${cause ?? ''}`.trimEnd(),
    isLogged: true,
  };
  const code = 'dispatch.upstream_unavailable';
  return isWaiting ? new UpstreamDown(code, options) : new GatewayError(code, options);
}

/** It does not respond. A probe, not a request, finds out when it does again. */
export const notResponding = (upstream: string, { cause, waitMs }: Pick<Liveness, 'cause' | 'waitMs'>) =>
  new UpstreamNotCalled('dispatch.upstream_unavailable', {
    message: `Upstream ${upstream} is down. ${cause ?? ''} Next probe in ${Math.max(1, Math.ceil(waitMs / 1000))} s.`,
    retryAfterS: Math.max(1, waitMs / 1000),
    isLogged: true,
  });

export const loopDetected = (passed: boolean): GatewayError =>
  new GatewayError('upstream.loop', {
    noRetry: true,
    ...(passed
      ? { message: 'This request already passed through this gateway, or through too many gateways.' }
      : {}),
  });

/** The daily limit is reached. Hours are too long to wait. */
export const quotaExceeded = (secondsLeft: number): GatewayError =>
  new UpstreamNotCalled('upstream.daily_cap', { noRetry: true, details: { resets_in_s: secondsLeft } });

/**
 * It has no route that counts tokens, and the gateway does not guess. `status`: the response that showed it.
 */
export const cannotCountTokens = (status?: number): GatewayError =>
  new GatewayError('dispatch.capability_mismatch', {
    message: 'The engine or upstream of this model cannot count tokens.',
    param: 'model',
    ...(status === undefined ? {} : { details: { upstream_status: status } }),
  });

/** A key is configured, but its variable is not set. */
/** Why an upstream gets no requests, for an administrator. */
export const keyMissing = ({ keyEnv }: Pick<UpstreamConfig, 'keyEnv'>): string =>
  `Its key is not set: ${keyEnv} has no value. Set it with svcctl auth set ${keyEnv}.`;

export const keyNotSet = (): GatewayError =>
  new GatewayError('upstream.auth_failed', {
    message: 'The key of this upstream is not set. An administrator can set it in api.env.',
    noRetry: true,
  });
