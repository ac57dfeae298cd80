import type { PurposeName } from '../../../daemon/contract/catalog.ts';
import type { SetupItemView, SetupLeftOutView, SetupView } from '../../../daemon/contract/setup.ts';
import { openToChanges } from '../../app/posture.ts';
import { count, gib } from '../../ui/format.ts';
import { listed } from '../shared/forecast.ts';

/** What a model of this purpose does, in two or three words. */
export const PURPOSES: Readonly<Record<PurposeName, string>> = {
  chat: 'Chat',
  coding: 'Coding',
  small: 'Small helper',
  embedding: 'Finding by meaning',
  rerank: 'Sorting results',
  hearing: 'Hearing',
  speaking: 'Speaking',
  images: 'Pictures',
};

/** Nobody gets in: keys are required and there is none. What needs an admin is then out of reach, the setup is not. */
export const isClosed = (view: Pick<SetupView, 'require_auth' | 'has_admin_key'>): boolean =>
  view.require_auth && !view.has_admin_key;

/** What it means to open the gateway to the network as it stands now. */
export function networkWords(
  view: Pick<SetupView, 'require_auth' | 'has_admin_key' | 'guard_remote_admin'>,
): string {
  if (view.require_auth)
    return 'Phones, laptops and other machines reach it; every one of them needs a key. Nothing is encrypted.';
  const all =
    'Everyone in your network, guests and gadgets too, can use the models and change everything here';
  if (!view.has_admin_key)
    return `${all}, because there is no key yet. Set one first: that is the next step. Nothing is encrypted.`;
  const why = openToChanges(view);
  if (why !== null) return `${all}, because ${why}. Nothing is encrypted.`;
  return (
    'Everyone in your network can use the models without a key, and see what is asked. ' +
    'Changing anything from another machine needs the admin key. Nothing is encrypted.'
  );
}

type Machine = NonNullable<SetupView['hardware']>;
type Device = Machine['devices'][number];

const cores = (many: number): string => (many === 1 ? 'one core' : `${many} cores`);

function memoryOf({ pools }: Machine, device: Device): string {
  const pool = pools.find(({ id }) => id === device.pool);
  if (pool?.kind === 'unified') return `, which shares ${gib(pool.total_bytes)} with the processor`;
  const bytes = device.memory_total_bytes;
  return bytes === null || pool?.kind === 'host' ? '' : ` with ${gib(bytes)}`;
}

/** What was found, one plain sentence for each thing that matters to models. */
export function machineSentences(machine: Machine): string[] {
  const { host, devices } = machine;
  const free = gib(host.memory_available_bytes);
  const memory = `${gib(host.memory_total_bytes)} of memory, ${free} of it free`;
  const gpus = devices.filter(({ kind }) => kind === 'gpu');
  const cards = gpus.map((card) =>
    card.unused_reason === null
      ? `${card.name}${memoryOf(machine, card)}: models run on it.`
      : `${card.name}${memoryOf(machine, card)} is not used: ${card.unused_reason}`,
  );
  const none =
    gpus.length === 0
      ? ['No graphics card was found: models run on the processor, which is fine for small ones.']
      : [];
  return [`${host.cpu} with ${cores(host.cores_physical)} and ${memory}.`, ...cards, ...none];
}

const REASONS: Readonly<Record<SetupLeftOutView['reason'], string>> = {
  memory: 'there is no memory left for it',
  disk: 'the disk has no room for it',
  has_model: 'there is a model for it already',
};

/** What the set leaves out and why, in sentences. */
export function leftOutSentences(leftOut: readonly SetupLeftOutView[]): string[] {
  return (Object.keys(REASONS) as SetupLeftOutView['reason'][]).flatMap((reason) => {
    const names = leftOut.filter((one) => one.reason === reason).map(({ purpose }) => PURPOSES[purpose]);
    const them = names.length > 1 ? REASONS[reason].replace(/\bit\b/, 'them') : REASONS[reason];
    return names.length === 0 ? [] : [`Left out: ${listed(names)}, because ${them}.`];
  });
}

/** Bytes that a choice of the set fetches. */
export const downloadOf = (items: readonly SetupItemView[]): number =>
  items.reduce((all, item) => all + (item.installed === null ? item.size_bytes : 0), 0);

/** Size and licence of one model, and where it will live. */
export function itemFacts(item: SetupItemView, machine: Machine): string {
  const pool = machine.pools.find(({ id }) => id === item.pool);
  const card = machine.devices.find(({ id }) => id === item.pool);
  const place =
    pool?.kind === 'device' ? `the memory of ${card?.name ?? 'the card'}` : 'the memory of this machine';
  const size = item.installed === null ? `${gib(item.size_bytes)} to fetch` : 'is here already';
  return `${size} · licence ${item.licence} · takes ${gib(item.needed_bytes)} of ${place}`;
}

type Work = SetupView['work'][number];

const PHASES: Readonly<Record<Work['phase'], string>> = {
  asking: 'Asking the hub',
  pulling: 'Fetching',
  loading: 'Loading',
  ready: 'Ready',
  failed: 'Failed',
};

/** Where one model is on its way, as a word. */
export function phaseWord({ phase, pull }: Work): string {
  if (phase !== 'pulling' || pull === null) return PHASES[phase];
  if (pull.state === 'paused') return 'Paused';
  if (pull.state === 'queued') return 'Waiting its turn';
  return pull.state === 'verifying' ? 'Checking what came' : PHASES.pulling;
}

/** Share of the present phase that is done, 0 to 100; null where nobody knows. */
export function shareOf({ phase, pull, progress }: Work): number | null {
  if (phase === 'pulling') return pull === null || pull.total === 0 ? null : (pull.bytes / pull.total) * 100;
  return phase === 'loading' && progress !== null ? progress * 100 : null;
}

const MIB = 1024 ** 2;

/** Bytes a second in the unit in which lines are spoken of. */
export const paceWord = (perSecond: number): string =>
  perSecond < MIB ? 'under 1 MiB per second' : `${count(Math.round(perSecond / MIB))} MiB per second`;
