import { catalogCodeOf, ERRORS, type ErrorCode } from '../../contract/errors.ts';
import type { MetricFactory } from './metric-factory.ts';

const LIMITED: ErrorCode = 'auth.rate_limited';
const isRefusal = (code: ErrorCode): boolean => code.startsWith('auth.') && code !== LIMITED;

/**
 * Returns the code under which a failure inside a response is counted. A refusal of credentials inside a
 * response comes from an upstream, not from us.
 */
export function inBandErrorCode(code: string): ErrorCode {
  const known = catalogCodeOf(code);
  return known.startsWith('auth.') ? 'upstream.error' : known;
}

/** Counts the errors that callers received; every code of the catalogue starts at 0. */
export function refusalSeries(make: MetricFactory): (code: ErrorCode) => void {
  const errors = make.counter('svc_errors_total', 'Error responses by code.', 'code');
  const auth = make.counter(
    'svc_auth_refusals_total',
    'Requests refused by authentication, by code.',
    'code',
  );
  const limiter = make
    .counter('svc_limiter_trips_total', 'Logins and rotations refused by the login limiter.')
    .labels({});
  limiter.inc(0);
  for (const code of Object.keys(ERRORS) as ErrorCode[]) {
    errors.labels({ code }).inc(0);
    if (isRefusal(code)) auth.labels({ code }).inc(0);
  }
  return (code) => {
    errors.labels({ code }).inc();
    if (code === LIMITED) limiter.inc();
    else if (isRefusal(code)) auth.labels({ code }).inc();
  };
}
