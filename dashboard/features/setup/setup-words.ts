import type { PurposeName } from '../../../daemon/contract/catalog.ts';
import type {
  SetupChoiceView,
  SetupItemView,
  SetupLeftOutView,
  SetupView,
} from '../../../daemon/contract/setup.ts';
import { speedFeeling, speedText } from '../../../daemon/contract/speed-text.ts';
import { openToChanges } from '../../app/posture.ts';
import { byteSize, count } from '../../ui/format.ts';
import type { Tone } from '../../ui/tone.ts';
import { listed } from '../shared/forecast.ts';

/** Label of each model purpose. */
export const PURPOSES: Readonly<Record<PurposeName, string>> = {
  chat: 'Chat',
  coding: 'Coding',
  vision: 'Vision',
  small: 'Small fast model',
  embedding: 'Semantic search',
  rerank: 'Reranking',
  hearing: 'Speech to text',
  speaking: 'Text to speech',
  images: 'Image generation',
};

/** True when keys are required and none is set: admin routes are refused, setup still works. */
export const isClosed = (view: Pick<SetupView, 'require_auth' | 'has_admin_key'>): boolean =>
  view.require_auth && !view.has_admin_key;

/** Describes the effect of opening the gateway to the network with the current keys. */
export function networkWords(
  view: Pick<SetupView, 'require_auth' | 'has_admin_key' | 'guard_remote_admin'>,
): string {
  if (view.require_auth)
    return 'Phones, laptops and other machines can connect; each of them needs a key. Traffic is not encrypted.';
  const all =
    'Anyone on your network, including guests and smart devices, could use the models and change settings';
  if (!view.has_admin_key)
    return `${all}, because there is no key yet. Create one first (next step). Traffic is not encrypted.`;
  const why = openToChanges(view);
  if (why !== null) return `${all}, because ${why}. Traffic is not encrypted.`;
  return (
    'Anyone on your network can use the models without a key and see the requests. ' +
    'Changing settings from another machine needs the admin key. Traffic is not encrypted.'
  );
}

type Machine = NonNullable<SetupView['hardware']>;
type Device = Machine['devices'][number];

const cores = (many: number): string => (many === 1 ? '1 core' : `${many} cores`);

function memoryOf({ pools }: Machine, device: Device): string {
  const pool = pools.find(({ id }) => id === device.pool);
  if (pool?.kind === 'unified') return `, which shares ${byteSize(pool.total_bytes)} with the CPU`;
  const bytes = device.memory_total_bytes;
  return bytes === null || pool?.kind === 'host' ? '' : ` with ${byteSize(bytes)}`;
}

/** Describes the detected hardware: one sentence for the host and one for each GPU. */
export function machineSentences(machine: Machine): string[] {
  const { host, devices } = machine;
  const free = byteSize(host.memory_available_bytes);
  const memory = `${byteSize(host.memory_total_bytes)} of RAM (${free} free)`;
  const gpus = devices.filter(({ kind }) => kind === 'gpu');
  const cards = gpus.map((card) =>
    card.unused_reason === null
      ? `${card.name}${memoryOf(machine, card)}: used for models.`
      : `${card.name}${memoryOf(machine, card)} is not used: ${card.unused_reason}`,
  );
  const none =
    gpus.length === 0 ? ['No GPU found. Models run on the CPU, which works well for small models.'] : [];
  return [`${host.cpu} with ${cores(host.cores_physical)} and ${memory}.`, ...cards, ...none];
}

const REASONS: Readonly<Record<SetupLeftOutView['reason'], string>> = {
  memory: 'not enough memory',
  disk: 'not enough disk space',
  has_model: 'already installed',
};

/** Lists the purposes that the recommendation leaves out, one sentence per reason. */
export function leftOutSentences(leftOut: readonly SetupLeftOutView[]): string[] {
  return (Object.keys(REASONS) as SetupLeftOutView['reason'][]).flatMap((reason) => {
    const names = leftOut.filter((one) => one.reason === reason).map(({ purpose }) => PURPOSES[purpose]);

    return names.length === 0 ? [] : [`Not included: ${listed(names)} (${REASONS[reason]}).`];
  });
}

/** Total download size of the selected items in bytes. */
export const downloadOf = (items: readonly SetupItemView[]): number =>
  items.reduce((all, item) => all + (item.installed === null ? item.size_bytes : 0), 0);

/** Name of each choice of the chat model. */
export const CHOICES: Readonly<Record<SetupChoiceView['id'], string>> = {
  small: 'Small',
  balanced: 'Balanced',
  best: 'Best',
};

/** Download size, licence, memory use and expected speed of one model. */
export function itemFacts(item: SetupItemView, machine: Machine): string {
  const pool = machine.pools.find(({ id }) => id === item.pool);
  const card = machine.devices.find(({ id }) => id === item.pool);
  const place = pool?.kind === 'device' ? `of VRAM (${card?.name ?? 'GPU'})` : 'of RAM';
  const size = item.installed === null ? `${byteSize(item.size_bytes)} download` : 'already installed';
  const speed = item.speed === undefined ? '' : ` · ${speedText(item.speed)}, ${speedFeeling(item.speed)}`;
  return `${size} · ${item.licence} · uses ${byteSize(item.needed_bytes)} ${place}${speed}`;
}

type Work = SetupView['work'][number];

const PHASES: Readonly<Record<Work['phase'], string>> = {
  asking: 'Contacting the hub',
  pulling: 'Downloading',
  loading: 'Loading',
  ready: 'Ready',
  failed: 'Failed',
};

/** Label of the current phase of one model. */
export function phaseWord({ phase, pull }: Work): string {
  if (phase !== 'pulling' || pull === null) return PHASES[phase];
  if (pull.state === 'paused') return 'Paused';
  if (pull.state === 'queued') return 'Queued';
  return pull.state === 'verifying' ? 'Verifying' : PHASES.pulling;
}

/**
 * The state of all models that setup started; null without any. Done only when each one is ready: `2 of 6 ready, 4
 * failed`.
 */
export function workBadge(work: readonly Work[]): { tone: Tone; word: string } | null {
  if (work.length === 0) return null;
  const ready = work.filter(({ phase }) => phase === 'ready').length;
  const failed = work.filter(({ phase }) => phase === 'failed').length;
  if (ready === work.length) return { tone: 'ok', word: 'Done' };
  const word = `${ready} of ${work.length} ready`;
  if (failed === 0) return { tone: 'busy', word };
  return { tone: ready + failed === work.length ? 'failed' : 'attention', word: `${word}, ${failed} failed` };
}

/** Progress of the current phase in percent, or null when unknown. */
export function shareOf({ phase, pull, progress }: Work): number | null {
  if (phase === 'pulling') return pull === null || pull.total === 0 ? null : (pull.bytes / pull.total) * 100;
  return phase === 'loading' && progress !== null ? progress * 100 : null;
}

const MIB = 1024 ** 2;

/** Formats a download rate in MiB per second. */
export const paceWord = (perSecond: number): string =>
  perSecond < MIB ? 'under 1 MiB/s' : `${count(Math.round(perSecond / MIB))} MiB/s`;
