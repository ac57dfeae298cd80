import type { DeviceRecord, HardwareView, MemoryPoolRecord } from '../contract/hardware.ts';
import type { Hardware } from '../hardware/hardware.ts';
import { KEEP_FREE_BYTES } from '../slots/admission/eviction.ts';
import type { MemoryHeadroom, PlannedReservations } from '../slots/admission/launch-plan.ts';

const HOST = 'host';
const NO_RESERVATIONS: PlannedReservations = new Map();
/** Device word of a slot file → the maker of the cards that it counts; any for one that is not listed. */
const VENDORS: Readonly<Record<string, string>> = { cuda: 'nvidia', rocm: 'amd' };

interface CardHeadroom extends MemoryHeadroom {
  readonly device: DeviceRecord;
  readonly total: number | null;
  /** What is free is as old as the last look at the card. */
  readonly isRefreshable: boolean;
}

/** What the driver calls free: total less used would count what it keeps for itself. */
function dedicatedHeadroom(card: DeviceRecord, pool: MemoryPoolRecord): CardHeadroom {
  const { total_bytes: total } = pool;
  const { memory_used_bytes: used } = card;
  const free = pool.available_bytes ?? (used === null ? null : total - used);
  const room = { device: card, pool: pool.id, total, isRefreshable: true };
  return free === null ? { ...room, free: total, unknown: true } : { ...room, free };
}

/** What a card may give: its own memory, or for one that lives on the machine's memory what the shared pool has. */
function cardHeadroom(card: DeviceRecord, view: HardwareView, host: number): CardHeadroom {
  const pool = view.pools.find(({ id }) => id === card.pool);
  if (pool?.kind === 'device') return dedicatedHeadroom(card, pool);
  const shared = pool?.kind === 'unified' ? pool : null;
  const free = shared?.available_bytes ?? host;
  return {
    device: card,
    pool: HOST,
    free,
    total: shared?.total_bytes ?? null,
    isRefreshable: shared !== null,
  };
}

/** Those that tell what they have come first, then the roomiest. */
const mostFreeFirst = (a: CardHeadroom, b: CardHeadroom): number =>
  Number(a.unknown ?? false) - Number(b.unknown ?? false) || b.free - a.free;

const onHost = ({ pool }: DeviceRecord): boolean => pool === HOST;
const hasOwnMemory = ({ pool }: DeviceRecord): boolean => pool !== null && pool !== HOST;

/**
 * Cards that models run on, in the order in which they are counted; every usable one for `auto`. Where nothing names a maker,
 * graphics on the machine's memory come last, as Vulkan's loader lists them, and where no number is named they are left out beside a
 * card with memory of its own, as llama.cpp does.
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
 * What one of several cards with memory of their own is called by each backend; undefined for the only one, for one that lives on
 * the machine's memory, and for cards of different makers: which of those a backend sees, and so how it counts them, is not known.
 */
function deviceWordsFor(view: HardwareView, chosen: DeviceRecord): string[] | undefined {
  const own = cardsFor(view, 'auto').filter(hasOwnMemory);
  const word = deviceWordOf(chosen);
  const alike = own.every((card) => card.vendor !== null && deviceWordOf(card) === word);
  if (own.length < 2 || !alike || !own.includes(chosen)) return undefined;
  // Vulkan's loader lists such cards first, by their address.
  const vulkan = `vulkan:${own.indexOf(chosen)}`;
  return word === undefined ? [vulkan] : [`${word}:${cardsFor(view, word).indexOf(chosen)}`, vulkan];
}

/**
 * Returns the memory that a load of `needed` bytes draws from (docs/spec/contract.md#admission): the
 * machine's for the CPU; for an accelerator that of the usable one with the most free memory, or the
 * machine's where that is unknown or shared. With `auto`, a model that no card could ever hold counts against
 * the machine's memory, where a part of it will be; any other model runs on that one card. What is planned
 * `beside` it counts as taken. A card that stops reporting its free memory keeps its loads.
 */
export function memoryHeadroom(
  hardware: Pick<Hardware, 'view' | 'reading' | 'memoryAvailable'>,
  device: string,
  needed: number,
  beside: PlannedReservations = NO_RESERVATIONS,
): MemoryHeadroom {
  const subtractReserved = <R extends MemoryHeadroom>(room: R): R => ({
    ...room,
    free: room.free - (beside.get(room.pool) ?? 0),
  });
  const host = hardware.memoryAvailable({ fresh: true });
  const machine: MemoryHeadroom = subtractReserved({ pool: HOST, free: host });
  if (device === 'cpu') return machine;
  const view = hardware.view();
  const reading = hardware.reading() ? { refreshing: true as const } : {};
  if (view === null) return { ...machine, ...reading };
  const cards = cardsFor(view, device)
    .map((card) => subtractReserved(cardHeadroom(card, view, host)))
    .filter(({ total }) => device !== 'auto' || total === null || total >= needed);
  const [best, ...further] = cards.sort(mostFreeFirst);
  if (best === undefined) return machine;
  const refreshing = cards.some(({ isRefreshable: looked }) => looked) ? reading : {};
  const toHeadroom = ({ device: on, pool, free, unknown, isRefreshable: looked }: CardHeadroom): MemoryHeadroom => {
    const card = device === 'auto' ? deviceWordsFor(view, on) : undefined;
    const aged = pool === HOST && looked ? { stale: true as const } : {};
    return { pool, free, ...(card && { card }), ...(unknown && { unknown }), ...aged, ...refreshing };
  };
  const [room, ...others] = [best, ...further].map(toHeadroom) as [MemoryHeadroom, ...MemoryHeadroom[]];
  const selectable = others.filter(({ card }) => card !== undefined);
  return room.card === undefined || selectable.length === 0 ? room : { ...room, alternatives: selectable };
}

/**
 * Most bytes that one model on a device can ever have here: what the machine, or with a GPU the largest that `roomOn` would
 * count it against, has in all, less what is kept free and within `limit` (0 = none). Starts nothing.
 */
export function maxModelBytes(
  hardware: Pick<Hardware, 'last' | 'memoryTotal'>,
  device: string,
  limit: number,
): number {
  const host = hardware.memoryTotal();
  const view = device === 'cpu' ? null : hardware.last();
  const cards =
    view === null ? [] : cardsFor(view, device).map((card) => cardHeadroom(card, view, host).total);
  const totals = cards.filter((total) => total !== null);
  const maxBytes = Math.max(...(device === 'auto' || totals.length === 0 ? [host] : []), ...totals);
  return Math.min(maxBytes - KEEP_FREE_BYTES, limit || Number.POSITIVE_INFINITY);
}
