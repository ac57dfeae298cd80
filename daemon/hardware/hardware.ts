import { availableParallelism } from 'node:os';
import type { GatewayEvents } from '../contract/events.ts';
import type { HardwareView } from '../contract/hardware.ts';
import type { EventBus } from '../lib/async/event-bus.ts';
import { memoizePerTick } from '../lib/async/memoize-per-tick.ts';
import { SingleFlight } from '../lib/async/single-flight.ts';
import type { Log } from '../lib/log.ts';
import type { ContainerSources } from './containers.ts';
import { physicalCores } from './cpu-cores.ts';
import type { DeviceInfo } from './device-facts.ts';
import { type NodeAccess, nodeAccess } from './device-nodes.ts';
import { hasCardSigns } from './gpu-evidence.ts';
import { cardMemory } from './gpu-memory.ts';
import { readHostMemory } from './host-memory.ts';
import { HostReader } from './host-readings.ts';
import { openTree } from './kernel-tree.ts';
import { LiveValues } from './live-values.ts';
import { installedBackends } from './llama-backends.ts';
import { HOST_POOL, isUnifiedGpu } from './memory-budget.ts';
import { isOutdated } from './outdated.ts';
import { type ProbeContext, type ProbeResult, probeMachine } from './probe.ts';
import { watchResume } from './resume-watch.ts';
import { runGuarded } from './run-guarded.ts';
import { TOOL_PATH, tools } from './tools.ts';
import { hardwareView } from './view.ts';

export interface HardwareOptions {
  log: Log;
  bus: EventBus<GatewayEvents>;
  /** Prefix of /sys, /proc and /dev. Default: none. */
  root?: string;
  /** The search path for vendor tools. */
  path?: string;
  nodeAccess?: NodeAccess;
  /** Installed llama.cpp backends. */
  backends?: () => readonly string[];
  /** How container engines are found. Default: none are searched. */
  containers?: ContainerSources;
  /** Maximum milliseconds of one probe. */
  limitMs?: number;
  /** True when a first probe is certain to follow; it counts as running. */
  expectsProbe?: boolean;
}

export interface Hardware {
  /**
   * Returns the last probe with the last live values, and refreshes values older than 5 s for later calls. Null
   * before the first probe. Starts nothing slow.
   */
  view(): HardwareView | null;
  /** Returns the last probe with the last live values, however old. Starts nothing. */
  last(): HardwareView | null;
  /**
   * Returns whether the GPU values in `view()` are stale or missing and are being read now. False once the
   * read has ended, successful or not. Starts nothing.
   */
  isRefreshing(): boolean;
  /**
   * Reads the GPU values again when they are older than a second. Returns whether a read is under way, so that a
   * refusal can wait for it. False before the first probe.
   */
  reread(): boolean;
  /**
   * Returns the last probe with live values that are refreshed when older than 5 s. Probes first when no
   * probe has run.
   */
  current(): Promise<HardwareView>;
  /** Probes the whole machine and returns it with live values. Overlapping calls share one run. Never rejects. */
  probe(): Promise<HardwareView>;
  /**
   * Probes the machine as `probe` does, without load, temperature, swap, network and disks: reading them starts about 90
   * programs. Never rejects.
   */
  probeDevices(): Promise<void>;
  /** Returns the available host memory in bytes. Cheap: cached for up to a second unless `fresh`. */
  memoryAvailable(options?: { fresh: boolean }): number;
  /** Returns the maximum host memory of this process in bytes, including its control group's limit. */
  memoryTotal(): number;
  /**
   * Returns the bytes that these processes use of a card's own memory, or with the pool of the host, through a GPU with
   * unified memory: 0 without one. Null when the machine does not report it. Never rejects.
   */
  cardMemory(card: string, pids: readonly number[]): Promise<number | null>;
  /** Returns the physical cores that this process may use, at least 1. */
  coresPhysical(): number;
  close(): void;
}

const MEMORY_MS = 1000;
const PROBE_MS = 8000;
/** Age from which a figure is read again before a load is refused or another slot is evicted for it. */
const CONFIRM_MS = 1000;
/** Minimum interval of automatic probes after a change of the machine. */
const PROBE_AGAIN_MS = 60_000;

/** Caches a value and reads it again once it is older than `ms`. */
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

const infoOf = ({ devices }: ProbeResult): DeviceInfo[] => devices.map(({ info }) => info);

/**
 * Creates the gateway's view of the machine. Reads nothing before the first `probe()`, `memoryAvailable()` or
 * `coresPhysical()`.
 */
export function createHardware(options: HardwareOptions): Hardware {
  const { log, bus, root = '' } = options;
  const stop = new AbortController();
  const context = probeContext(options, stop.signal);
  const memory = cached(MEMORY_MS, () => readHostMemory(root));
  const fresh = memoizePerTick(() => readHostMemory(root));
  const live = new LiveValues(context, log);
  const host = new HostReader(context.path, stop.signal);
  let cores: number | null = null;
  let hasCard: boolean | null = null;
  let last: ProbeResult | null = null;
  let probedAgainAt = Number.NEGATIVE_INFINITY;

  const coresPhysical = () => {
    cores ??= physicalCores(root);
    return cores;
  };
  const viewOf = (result: ProbeResult) =>
    hardwareView(result, {
      memory: memory(),
      coresPhysical: coresPhysical(),
      coresLogical: availableParallelism(),
      readings: host.last(),
    });
  const probeAll = async () => {
    last = await probeMachine(context);
    cores = null;
    live.markRead(infoOf(last));
    for (const problem of last.problems) log.warn(problem, 'hardware probe');
    bus.emit('hardware', { probed_at: last.probedAt });
  };
  const readLive = async () => {
    if (last === null || stop.signal.aborted) return;
    await live.read(infoOf(last));
    const now = performance.now();
    if (now - probedAgainAt < PROBE_AGAIN_MS || !(await isOutdated(context.tree, last))) return;
    probedAgainAt = now;
    void probeDevices();
  };
  const flights = new SingleFlight<void>();
  const refresh = () => flights.run('live', readLive);
  const probeDevices = () => flights.run('probe', probeAll);
  const probe = async () => {
    await probeDevices();
    return current();
  };
  const current = async (): Promise<HardwareView> => {
    if (last === null) return probe();
    await Promise.all([host.refresh(), live.stale ? refresh() : null]);
    return viewOf(last);
  };
  const stopWatch = watchResume(() => void probeDevices());

  return {
    view() {
      if (last === null) return null;
      if (live.stale) void refresh();
      return viewOf(last);
    },
    last: () => (last === null ? null : viewOf(last)),
    isRefreshing() {
      if (last !== null) return flights.size > 0 && live.stale;
      if (flights.size === 0 && !options.expectsProbe) return false;
      hasCard ??= hasCardSigns(root);
      return hasCard;
    },
    reread() {
      if (last === null || live.ageMs < CONFIRM_MS) return false;
      void refresh();
      return true;
    },
    current,
    probe,
    probeDevices,
    memoryAvailable: (options) => (options?.fresh ? fresh() : memory()).availableBytes,
    memoryTotal: () => memory().totalBytes,
    async cardMemory(card, pids) {
      const infos = last?.devices.map(({ info }) => info) ?? null;
      const isHost = card === HOST_POOL;
      const info = infos?.find((each) => (isHost ? isUnifiedGpu(each) : each.id === card));
      if (info === undefined) return isHost && infos !== null ? 0 : null;
      const readMemory = () => cardMemory(context, info, pids, isHost);
      return runGuarded('card memory', context.limitMs, readMemory, null, []);
    },
    coresPhysical,
    close() {
      stopWatch();
      stop.abort();
    },
  };
}
