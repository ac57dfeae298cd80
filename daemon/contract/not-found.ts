import { GatewayError } from './errors.ts';

/** Maximum length of a requested name in an error. */
const MAX_NAME_LENGTH = 64;
/** Maximum number of existing names in an error. */
const MAX_NAMES = 12;

const shorten = (name: string): string => {
  const short = [...name].slice(0, MAX_NAME_LENGTH).join('');
  return short === name ? name : `${short}…`;
};

function existing(label: string, names: readonly string[]): string {
  if (names.length === 0) return '';
  const more = names.length > MAX_NAMES ? ', …' : '';
  return ` ${label}: ${names.slice(0, MAX_NAMES).join(', ')}${more}.`;
}

/** Returns 404 `slot.not_found`. `names`: the existing slots, which the message lists. */
export const slotNotFound = (name: string, names: readonly string[] = []): GatewayError =>
  new GatewayError('slot.not_found', {
    message: `There is no slot "${shorten(name)}".${existing('Slots', names)}`,
    details: { slot: shorten(name) },
  });

/** Returns 404 `upstream.not_found`. `names`: the existing upstreams, which the message lists. */
export const upstreamNotFound = (name: string, names: readonly string[] = []): GatewayError =>
  new GatewayError('upstream.not_found', {
    message: `There is no upstream "${shorten(name)}".${existing('Upstreams', names)}`,
    details: { upstream: shorten(name) },
  });
