/** The header by which gateways of our kind tell each other whom a request has passed. */
export const HOPS_HEADER = 'x-svc-hops';
/** By which a gateway that was asked with it says who it is. */
export const INSTANCE_HEADER = 'x-svc-instance';
/** Gateways that one request may pass. */
const MAX_HOPS = 4;

/**
 * The header for the next gateway: what came plus our own name. Null when the request has been here before or has
 * passed too many gateways.
 */
export function nextHops(header: string | undefined, own: string): string | null {
  const passed = (header ?? '')
    .split(',', MAX_HOPS + 1)
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (passed.includes(own) || passed.length >= MAX_HOPS) return null;
  return [...passed.map((name) => name.replace(/[^0-9a-f]/g, '').slice(0, 32) || '0'), own].join(',');
}
