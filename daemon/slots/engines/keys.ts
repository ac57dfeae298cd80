import { imageNameError } from '../../lib/container-engine/image-name.ts';
import { isUnreachable } from '../../lib/net/addresses.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import type { RunnerId } from './run-spec.ts';

function urlFault(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    return 'url: must be an address such as "http://127.0.0.1:9000"';
  }
  if (url.username !== '' || url.password !== '') return 'url: must not hold a credential; use key_env';
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    return 'url: must be scheme, host and port only';
  }
  if (isUnreachable(url.hostname)) return 'url: link-local and unspecified addresses are never connected to';
  return null;
}

interface Rule {
  readonly key: string;
  readonly given: (config: SlotConfig) => boolean;
  readonly runners: readonly RunnerId[];
  readonly why: string;
}

/** Keys that apply to some runners only. */
const RULES: readonly Rule[] = [
  {
    key: 'url',
    given: (config) => config.url !== null,
    runners: ['attach'],
    why: 'only runner attach goes to an address',
  },
  {
    key: 'command',
    given: (config) => config.command !== null,
    runners: ['process'],
    why: 'only runner process starts a program',
  },
  {
    key: 'image',
    given: (config) => config.image !== null,
    runners: ['container'],
    why: 'only runner container starts an image',
  },
  {
    key: 'port',
    given: (config) => config.port !== null,
    runners: ['container'],
    why: 'is the port inside a container; elsewhere the gateway chooses one',
  },
  {
    key: 'health',
    given: (config) => config.health !== null,
    runners: ['process', 'container', 'attach'],
    why: 'the workers of the gateway tell by themselves when they are ready',
  },
  {
    key: 'extra_args',
    given: (config) => config.extraArgs.length > 0,
    runners: ['worker', 'process', 'container'],
    why: 'a server that runs already takes no arguments',
  },
  {
    key: 'env',
    given: (config) => Object.keys(config.env).length > 0,
    runners: ['worker', 'process', 'container'],
    why: 'a server that runs already takes no variables',
  },
];

/**
 * Returns whether `key_env` applies: for the key of an attached server, or for the variable of a custom program.
 */
const takesKeyEnv = ({ runner, engine }: SlotConfig): boolean =>
  runner === 'attach' || (engine === 'custom' && runner !== 'worker');

/**
 * Returns what is wrong with the keys of a slot file for its runner, starting with the key; null when nothing is.
 */
export function keysObjection(config: SlotConfig): string | null {
  const rule = RULES.find((each) => each.given(config) && !each.runners.includes(config.runner));
  if (rule !== undefined) return `${rule.key}: ${rule.why}`;
  if (config.keyEnv !== null && !takesKeyEnv(config)) {
    return `key_env: engine ${config.engine} under ${config.runner} gets its key by itself`;
  }
  const image = config.image === null ? null : imageNameError(config.image);
  if (image !== null) return `image: ${image}`;
  if (config.runner !== 'attach') return null;
  if (config.url === null) return 'url: runner attach needs the address of the server';
  return urlFault(config.url);
}
