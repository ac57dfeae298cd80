import { availableParallelism } from 'node:os';
import type { GatewayEvents } from '../contract/events.ts';
import type { HardwareView } from '../contract/hardware.ts';
import type { EventBus } from '../lib/async/event-bus.ts';
import { memoizePerTick } from '../lib/async/memoize-per-tick.ts';
import { SingleFlight } from '../lib/async/single-flight.ts';
import type { Log } from '../lib/log.ts';
import { cardMemory } from './card-memory.ts';
import { hasCardSigns } from './card-signs.ts';
import type { ContainerSources } from './containers.ts';
import { physicalCores } from './cores.ts';
import { type NodeAccess, nodeAccess } from './device-nodes.ts';
import type { DeviceFacts } from './facts.ts';
import { runGuarded } from './guarded.ts';
import { readHostMemory } from './host-memory.ts';
import { LiveValues } from './live-values.ts';
import { installedBackends } from './llama-backends.ts';
import { isOutdated } from './outdated.ts';
import { type ProbeContext, type ProbeResult, probeMachine } from './probe.ts';
import { watchResume } from './resume-watch.ts';
import { TOOL_PATH, tools } from './tools.ts';
import { openTree } from './tree.ts';
import { hardwareView } from './view.ts';

export interface HardwareOptions {
  log: Log;
  bus: EventBus<GatewayEvents>;
  /** Prefix of /sys, /proc and /dev; the machine itself by default. */
  root?: string;
  /** Where vendor tools are looked for. */
  path?: string;
  nodeAccess?: NodeAccess;
  /** llama.cpp backends that are installed. */
  backends?: () => readonly string[];
  /** How engines of containers are found; default none is looked for. */
  containers?: ContainerSources;
  /** Milliseconds that one probe may take. */
  limitMs?: number;
  /** A first probe is certain to come, and counts as under way already. */
  expectsProbe?: boolean;
}

export interface Hardware {
  /** The last probe with values at most some seconds old once asked again; null before the first. Starts nothing slow. */
  view(): HardwareView | null;
  /** The last probe with the values that were read last, however old; starts nothing at all. */
  last(): HardwareView | null;
  /**
   * Whether what `view()` tells of cards is too old, or not there yet, and is being read at this moment; false once the reading
   * has ended, however it did. Starts nothing.
   */
  isRefreshing(): boolean;
  /** The last probe with live values read anew when older than 5 s; probes when that never happened. */
  current(): Promise<HardwareView>;
  /** Looks at the whole machine again; calls that overlap share one. Never rejects. */
  probe(): Promise<HardwareView>;
  /** Bytes of host memory that may be taken now: cheap, at most a second old, or read now. */
  memoryAvailable(options?: { fresh: boolean }): number;
  /** Bytes of host memory that this process may have at most, its control group's limit included. */
  memoryTotal(): number;
  /** Bytes that these processes hold of a card's own memory; null where the machine does not tell. Never rejects. */
  cardMemory(card: string, pids: readonly number[]): Promise<number | null>;
  /** Physical cores that this process may use, at least 1. */
  coresPhysical(): number;
  close(): void;
}

const MEMORY_MS = 1000;
const PROBE_MS = 8000;
/** A machine that is not as it was found is probed again at most this often without being asked to. */
const PROBE_AGAIN_MS = 60_000;

/** A value that is read again once it is older than `ms`. */
function cached<T>(ms: number, read: () => T): () => T {
  let last: { value: T; at: number } | null = null;
  return () => {
    const now = performance.now();
    if (last === null || now - last.at >= ms) last = { value: read(), at: now };
    return last.value;
  };
}

function probeContext(options: HardwareOptions, signal: AbortSignal): ProbeContext {
  const { root = '', path = TOOL_PATH } = options;
  return {
    tree: openTree(root),
    tool: tools(path, signal),
    path,
    nodeAccess: options.nodeAccess ?? nodeAccess(root),
    backends: options.backends ?? (() => installedBackends()),
    containers: options.containers ?? null,
    signal,
    limitMs: options.limitMs ?? PROBE_MS,
  };
}

const factsOf = ({ devices }: ProbeResult): DeviceFacts[] => devices.map(({ facts }) => facts);

/** The machine as the gateway sees it. Nothing is read before the first `probe()`, `memoryAvailable()` or `coresPhysical()`. */
export function createHardware(options: HardwareOptions): Hardware {
  const { log, bus, root = '' } = options;
  const stop = new AbortController();
  const context = probeContext(options, stop.signal);
  const memory = cached(MEMORY_MS, () => readHostMemory(root));
  const fresh = memoizePerTick(() => readHostMemory(root));
  const live = new LiveValues(context, log);
  let cores: number | null = null;
  let signs: boolean | null = null;
  let last: ProbeResult | null = null;
  let probedAgainAt = Number.NEGATIVE_INFINITY;

  const coresPhysical = () => {
    cores ??= physicalCores(root);
    return cores;
  };
  const shown = (result: ProbeResult) =>
    hardwareView(result, {
      memory: memory(),
      coresPhysical: coresPhysical(),
      coresLogical: availableParallelism(),
    });
  const probeAll = async () => {
    last = await probeMachine(context);
    cores = null;
    live.markRead(factsOf(last));
    for (const problem of last.problems) log.warn(problem, 'hardware probe');
    bus.emit('hardware', { probed_at: last.probedAt });
  };
  const readLive = async () => {
    if (last === null || stop.signal.aborted) return;
    await live.read(factsOf(last));
    const now = performance.now();
    if (now - probedAgainAt < PROBE_AGAIN_MS || !(await isOutdated(context.tree, last))) return;
    probedAgainAt = now;
    void probe();
  };
  const flights = new SingleFlight<void>();
  const refresh = () => flights.run('live', readLive);
  const probe = async () => {
    await flights.run('probe', probeAll);
    return current();
  };
  const current = async (): Promise<HardwareView> => {
    if (last === null) return probe();
    if (live.stale) await refresh();
    return shown(last);
  };
  const stopWatch = watchResume(() => void probe());

  return {
    view() {
      if (last === null) return null;
      if (live.stale) void refresh();
      return shown(last);
    },
    last: () => (last === null ? null : shown(last)),
    isRefreshing() {
      if (last !== null) return flights.size > 0 && live.stale;
      if (flights.size === 0 && !options.expectsProbe) return false;
      signs ??= hasCardSigns(root);
      return signs;
    },
    current,
    probe,
    memoryAvailable: (options) => (options?.fresh ? fresh() : memory()).availableBytes,
    memoryTotal: () => memory().totalBytes,
    async cardMemory(card, pids) {
      const facts = last?.devices.find((device) => device.facts.id === card)?.facts;
      if (facts === undefined) return null;
      return runGuarded('card memory', context.limitMs, () => cardMemory(context, facts, pids), null, []);
    },
    coresPhysical,
    close() {
      stopWatch();
      stop.abort();
    },
  };
}
