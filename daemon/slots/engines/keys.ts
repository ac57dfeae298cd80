import { imageNameError } from '../../lib/container-engine/image-name.ts';
import { isLoopback, isUnreachable } from '../../lib/net/addresses.ts';
import type { SlotConfig, Speculation } from '../config/slot-config.ts';
import type { RunnerId } from './run-spec.ts';

function urlFault(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    return 'url: must be an address such as "http://127.0.0.1:9000"';
  }
  if (url.username !== '' || url.password !== '') return 'url: must not contain a credential; use key_env';
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    return 'url: must be scheme, host and port only';
  }
  if (isUnreachable(url.hostname)) return 'url: link-local and unspecified addresses are never connected to';
  return null;
}

/** Returns whether an attached server loads its model at a request and releases it when its slot is unloaded. */
export function releasesMemory({ engine, runner, url }: SlotConfig): boolean {
  if (engine !== 'comfyui' || runner !== 'attach' || url === null || !URL.canParse(url)) return false;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  return host === 'localhost' || isLoopback(host);
}

interface Rule {
  readonly key: string;
  readonly isPresent: (config: SlotConfig) => boolean;
  readonly runners: readonly RunnerId[];
  readonly why: string;
}

/** Keys that apply to some runners only. */
const RULES: readonly Rule[] = [
  {
    key: 'url',
    isPresent: (config) => config.url !== null,
    runners: ['attach'],
    why: 'is used by runner attach only',
  },
  {
    key: 'command',
    isPresent: (config) => config.command !== null,
    runners: ['process'],
    why: 'is used by runner process only',
  },
  {
    key: 'image',
    isPresent: (config) => config.image !== null,
    runners: ['container'],
    why: 'is used by runner container only',
  },
  {
    key: 'port',
    isPresent: (config) => config.port !== null,
    runners: ['container'],
    why: 'is used by runner container only: other runners use a port that the gateway chooses',
  },
  {
    key: 'health',
    isPresent: (config) => config.health !== null,
    runners: ['process', 'container', 'attach'],
    why: 'is not used by workers: they report when they are ready',
  },
  {
    key: 'memory',
    isPresent: (config) => config.memoryBytes !== null && !releasesMemory(config),
    runners: ['worker', 'process', 'container'],
    why: 'is used by runner attach only for a ComfyUI on this machine: other servers have their memory already',
  },
  {
    key: 'extra_args',
    isPresent: (config) => config.extraArgs.length > 0,
    runners: ['worker', 'process', 'container'],
    why: 'is not used by runner attach: the server is already running',
  },
  {
    key: 'env',
    isPresent: (config) => Object.keys(config.env).length > 0,
    runners: ['worker', 'process', 'container'],
    why: 'is not used by runner attach: the server is already running',
  },
];

/** Keys of image slots that stable-diffusion.cpp uses too. */
const SD_SERVER_KEYS: ReadonlySet<string> = new Set(['family', 'defaults']);

/** Returns why the engine does not use a key of image slots; null when it uses all that the file sets. */
function imageKeyObjection({ imageSettings, fileKeys, engine, type }: SlotConfig): string | null {
  if (imageSettings === null || engine === 'comfyui') return null;
  const names = ['family', 'checkpoint', 'workflow', 'vae', 'loras', 'defaults'];
  const unused = names.find(
    (key) => fileKeys.includes(key) && !(engine === 'sd-server' && SD_SERVER_KEYS.has(key)),
  );
  if (unused === undefined) return null;
  return type === 'image'
    ? `${unused}: is not used by engine ${engine}`
    : `${unused}: is used by image slots only`;
}

/**
 * Returns whether `key_env` applies: for the key of an attached server, or for the variable of a custom program.
 */
const takesKeyEnv = ({ runner, engine }: SlotConfig): boolean =>
  runner === 'attach' || (engine === 'custom' && runner !== 'worker');

/** The ways of speculation of each engine that is started with them. */
const SPECULATIONS: Readonly<Record<string, readonly Speculation[]>> = {
  embedded: ['ngram'],
  'llama-server': ['ngram', 'draft', 'mtp'],
};

function speculationObjection({
  engine,
  runner,
  type,
  speculation,
  draftModel,
  draftTokens,
}: SlotConfig): string | null {
  if (speculation === 'off' || speculation === 'auto') {
    const unused = draftModel !== null ? 'draft_model' : draftTokens !== null ? 'draft_tokens' : null;
    return unused && `${unused}: is used with speculation only`;
  }
  const ways = type === 'llm' && runner !== 'attach' ? (SPECULATIONS[engine] ?? []) : [];
  if (ways.length === 0) return 'speculation: only chat slots of embedded and llama-server support it';
  if (!ways.includes(speculation)) return `speculation: engine ${engine} supports ${ways.join(', ')} only`;
  if (speculation === 'draft' && draftModel === null) return 'draft_model: speculation "draft" needs a model';
  if (speculation === 'ngram' && draftModel !== null) return 'draft_model: speculation "ngram" uses no model';
  return null;
}

/**
 * Returns what is wrong with the keys of a slot file for its runner, starting with the key; null when nothing is.
 */
export function keysObjection(config: SlotConfig): string | null {
  const rule = RULES.find((each) => each.isPresent(config) && !each.runners.includes(config.runner));
  if (rule !== undefined) return `${rule.key}: ${rule.why}`;
  if (config.keyEnv !== null && !takesKeyEnv(config)) {
    return `key_env: engine ${config.engine} under ${config.runner} gets its key automatically`;
  }
  const experts = config.nCpuMoe !== null ? 'n_cpu_moe' : config.cpuMoe !== null ? 'cpu_moe' : null;
  if (experts !== null && (config.engine !== 'llama-server' || config.runner === 'attach'))
    return `${experts}: only engine llama-server, started by the gateway, keeps experts on the CPU`;
  if (config.nCpuMoe !== null && config.cpuMoe !== null) return 'cpu_moe: n_cpu_moe is set, which decides';
  const drawing = imageKeyObjection(config);
  if (drawing !== null) return drawing;
  const speculation = speculationObjection(config);
  if (speculation !== null) return speculation;
  const image = config.image === null ? null : imageNameError(config.image);
  if (image !== null) return `image: ${image}`;
  if (config.runner !== 'attach') return null;
  if (config.url === null) return 'url: runner attach needs the address of the server';
  return urlFault(config.url);
}
