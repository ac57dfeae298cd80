import type { DeviceRecord, HardwareView, MemoryPoolRecord } from '../contract/hardware.ts';
import type { Hardware } from '../hardware/hardware.ts';
import type { DeviceTotals } from '../slots/admission/default-window.ts';
import { KEEP_FREE_BYTES } from '../slots/admission/eviction.ts';
import type { MemoryHeadroom, PlannedReservations } from '../slots/admission/launch-plan.ts';

const HOST = 'host';
const NO_RESERVATIONS: PlannedReservations = new Map();
/** Device word of a slot file → vendor of the GPUs that it counts. Any other word counts GPUs of all vendors. */
const VENDORS: Readonly<Record<string, string>> = { cuda: 'nvidia', rocm: 'amd' };

interface CardHeadroom extends MemoryHeadroom {
  readonly device: DeviceRecord;
  readonly cardTotal: number | null;
  /** The free memory is as old as the last reading of the GPU and can be refreshed. */
  readonly isRefreshable: boolean;
}

/**
 * Returns the headroom of dedicated memory. Uses the free value of the driver, because total minus used would
 * include the driver's own reservation.
 */
function dedicatedHeadroom(card: DeviceRecord, pool: MemoryPoolRecord): CardHeadroom {
  const { total_bytes: total } = pool;
  const { memory_used_bytes: used } = card;
  const free = pool.available_bytes ?? (used === null ? null : total - used);
  const headroom = { device: card, pool: pool.id, cardTotal: total, isRefreshable: true };
  return free === null ? { ...headroom, free: total, unknown: true } : { ...headroom, free };
}

/** Returns the headroom of a GPU: its own memory, or the shared pool for a GPU that uses the machine's memory. */
function cardHeadroom(card: DeviceRecord, view: HardwareView, host: number): CardHeadroom {
  const pool = view.pools.find(({ id }) => id === card.pool);
  if (pool?.kind === 'device') return dedicatedHeadroom(card, pool);
  const shared = pool?.kind === 'unified' ? pool : null;
  const free = shared?.available_bytes ?? host;
  return {
    device: card,
    pool: HOST,
    free,
    cardTotal: shared?.total_bytes ?? null,
    isRefreshable: shared !== null,
  };
}

/** Sorts GPUs that report their free memory first, then by free memory. */
const mostFreeFirst = (a: CardHeadroom, b: CardHeadroom): number =>
  Number(a.unknown ?? false) - Number(b.unknown ?? false) || b.free - a.free;

const onHost = ({ pool }: DeviceRecord): boolean => pool === HOST;
const hasOwnMemory = ({ pool }: DeviceRecord): boolean => pool !== null && pool !== HOST;

/**
 * Returns the GPUs that models run on, in the order in which the backends count them, and all usable ones for
 * `auto`. Without a vendor, integrated GPUs come last, as in Vulkan's loader. Without an index, they are left
 * out next to a GPU with dedicated memory, as in llama.cpp.
 */
function cardsFor(view: HardwareView | null, device: string): DeviceRecord[] {
  const [word = 'auto', index] = device.split(':');
  const vendor = VENDORS[word];
  const cards = (view?.devices ?? []).filter(
    (card) =>
      card.kind === 'gpu' &&
      card.access === 'ok' &&
      (word !== 'auto' || card.unused_reason === null) &&
      (vendor === undefined || card.vendor === null || card.vendor.toLowerCase().includes(vendor)),
  );
  const own = cards.filter((card) => !onHost(card));
  const counted = vendor === undefined ? [...own, ...cards.filter(onHost)] : cards;
  if (index !== undefined) return counted.slice(Number(index), Number(index) + 1);
  return vendor === undefined && own.some(hasOwnMemory) ? own : counted;
}

const deviceWordOf = ({ vendor }: DeviceRecord): string | undefined =>
  Object.keys(VENDORS).find((word) => vendor?.toLowerCase().includes(VENDORS[word] as string));

/**
 * Returns the names by which each backend selects one of several GPUs with dedicated memory. Returns
 * undefined for the only one, for an integrated GPU, and for GPUs of different vendors, because it is unknown
 * which of those a backend sees and how it counts them.
 */
function deviceWordsFor(view: HardwareView, chosen: DeviceRecord): string[] | undefined {
  const own = cardsFor(view, 'auto').filter(hasOwnMemory);
  const word = deviceWordOf(chosen);
  const alike = own.every((card) => card.vendor !== null && deviceWordOf(card) === word);
  if (own.length < 2 || !alike || !own.includes(chosen)) return undefined;
  // Vulkan's loader lists these GPUs first, by address.
  const vulkan = `vulkan:${own.indexOf(chosen)}`;
  return word === undefined ? [vulkan] : [`${word}:${cardsFor(view, word).indexOf(chosen)}`, vulkan];
}

/**
 * Returns the memory that a load of `needed` bytes draws from (docs/spec/contract.md#admission): the
 * machine's for the CPU. For an accelerator it is that of the usable one with the most free memory, or the
 * machine's where that is unknown or shared. With `auto`, a model that no GPU can hold counts against the
 * machine's memory, where a part of it will be. Any other model runs on one GPU. Memory that is planned
 * `next to` it counts as taken. A GPU that stops reporting its free memory keeps its loads.
 */
export function memoryHeadroom(
  hardware: Pick<Hardware, 'view' | 'isRefreshing' | 'memoryAvailable'>,
  device: string,
  needed: number,
  planned: PlannedReservations = NO_RESERVATIONS,
): MemoryHeadroom {
  const subtractReserved = <R extends MemoryHeadroom>(headroom: R): R => ({
    ...headroom,
    free: headroom.free - (planned.get(headroom.pool) ?? 0),
  });
  const host = hardware.memoryAvailable({ fresh: true });
  const machine: MemoryHeadroom = subtractReserved({ pool: HOST, free: host });
  if (device === 'cpu') return machine;
  const view = hardware.view();
  const reading = hardware.isRefreshing() ? { refreshing: true as const } : {};
  if (view === null) return { ...machine, ...reading };
  const cards = cardsFor(view, device)
    .map((card) => subtractReserved(cardHeadroom(card, view, host)))
    .filter(({ cardTotal }) => device !== 'auto' || cardTotal === null || cardTotal >= needed);
  const [best, ...further] = cards.sort(mostFreeFirst);
  if (best === undefined) return machine;
  const refreshing = cards.some(({ isRefreshable }) => isRefreshable) ? reading : {};
  const toHeadroom = ({
    device: on,
    pool,
    free,
    cardTotal,
    unknown,
    isRefreshable,
  }: CardHeadroom): MemoryHeadroom => {
    const card = device === 'auto' ? deviceWordsFor(view, on) : undefined;
    const aged = pool === HOST && isRefreshable ? { stale: true as const } : {};
    const whole = pool === HOST || cardTotal === null ? {} : { total: cardTotal };
    return {
      pool,
      free,
      ...whole,
      ...(card && { card }),
      ...(unknown && { unknown }),
      ...aged,
      ...refreshing,
    };
  };
  const [headroom, ...others] = [best, ...further].map(toHeadroom) as [MemoryHeadroom, ...MemoryHeadroom[]];
  const selectable = others.filter(({ card }) => card !== undefined);
  return headroom.card === undefined || selectable.length === 0
    ? headroom
    : { ...headroom, alternatives: selectable };
}

/**
 * Returns the total memory of the largest card on which a slot with this device may run, and that of the machine,
 * each at most `limit` (0 = no limit). Starts no probe.
 */
export function deviceTotals(
  hardware: Pick<Hardware, 'last' | 'memoryTotal'>,
  device: string,
  limit: number,
): DeviceTotals {
  const host = hardware.memoryTotal();
  const view = device === 'cpu' ? null : hardware.last();
  const cards = view === null ? [] : cardsFor(view, device).map((card) => cardHeadroom(card, view, host));
  const totals = cards.map(({ cardTotal }) => cardTotal).filter((total) => total !== null);
  const bounded = (bytes: number) => Math.min(bytes, limit || Number.POSITIVE_INFINITY);
  return { card: totals.length === 0 ? null : bounded(Math.max(...totals)), host: bounded(host) };
}

/**
 * Returns the maximum bytes of one model on a device: the total memory of the machine, or with a GPU that of
 * the largest one that `memoryHeadroom` considers, less the reserve and at most `limit` (0 = no limit).
 * Starts no probe.
 */
export function maxModelBytes(
  hardware: Pick<Hardware, 'last' | 'memoryTotal'>,
  device: string,
  limit: number,
): number {
  const host = hardware.memoryTotal();
  const view = device === 'cpu' ? null : hardware.last();
  const cards =
    view === null ? [] : cardsFor(view, device).map((card) => cardHeadroom(card, view, host).cardTotal);
  const totals = cards.filter((total) => total !== null);
  const maxBytes = Math.max(...(device === 'auto' || totals.length === 0 ? [host] : []), ...totals);
  return Math.min(maxBytes - KEEP_FREE_BYTES, limit || Number.POSITIVE_INFINITY);
}
