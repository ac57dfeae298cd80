/** The header with the gateways that a request has passed. */
export const HOPS_HEADER = 'x-svc-hops';
/** The header in which a gateway returns its instance name to another gateway. */
export const INSTANCE_HEADER = 'x-svc-instance';
/** Gateways that one request may pass. */
const MAX_HOPS = 4;

/**
 * Returns the header for the next gateway: the received value plus the own name. Returns null when the
 * request has passed this gateway before, or too many gateways.
 */
export function nextHops(header: string | undefined, own: string): string | null {
  const passed = (header ?? '')
    .split(',', MAX_HOPS + 1)
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (passed.includes(own) || passed.length >= MAX_HOPS) return null;
  return [...passed.map((name) => name.replace(/[^0-9a-f]/g, '').slice(0, 32) || '0'), own].join(',');
}
