import type { DevicePatch } from './device-facts.ts';
import { pciAddress } from './pci-scan.ts';
import { asRecord, looseNumber, parseJson, type Tool, toolProblem } from './tools.ts';

const MAX_GPUS = 64;
const MIB = 1_048_576;
/** Arguments of the queries. Older versions support them only without the filter options. */
const QUERIES = {
  static: ['static', '--asic', '--bus', '--vram', '--driver', '--json'],
  metric: ['metric', '--usage', '--power', '--temperature', '--mem-usage', '--json'],
} as const;

type Entry = Record<string, unknown>;

/** Returns the records of the output: a bare list in older versions, below `gpu_data` in newer ones. */
function records(text: string): Entry[] {
  const answer = parseJson(text);
  const list = Array.isArray(answer) ? answer : asRecord(answer).gpu_data;
  return Array.isArray(list) ? list.slice(0, MAX_GPUS).map(asRecord) : [];
}

/** Parses a value such as `{value: 12, unit: "W"}`. `"N/A"` is null. */
const quantity = (value: unknown): number | null => looseNumber(asRecord(value).value);
/** The tool's MB are 1,048,576 bytes. */
const mib = (value: unknown): number | null => {
  const amount = quantity(value);
  return amount === null ? null : amount * MIB;
};

/**
 * Returns a marketing name. Names from the PCI list (`Navi 23 [Radeon …`) are dropped, because other sources
 * have better ones.
 */
function marketName(value: unknown): string | null {
  if (typeof value !== 'string' || value === 'N/A' || /[[\]]/.test(value)) return null;
  return value.trim() || null;
}

/** Parses name and memory from `amd-smi static --json`, with the tool's index of each GPU. */
export function parseStatic(text: string): { index: number; id: string; patch: DevicePatch }[] {
  return records(text).flatMap((entry) => {
    const { bdf } = asRecord(entry.bus);
    const index = looseNumber(entry.gpu);
    const id = typeof bdf === 'string' ? pciAddress(bdf) : null;
    if (index === null || id === null) return [];
    const name = marketName(asRecord(entry.asic).market_name);
    return [{ index, id, patch: { name, memoryTotal: mib(asRecord(entry.vram).size), toolAnswered: true } }];
  });
}

/** Parses memory, load, power and temperature from `amd-smi metric --json`, by the tool's index. */
export function parseMetric(text: string): Map<number, DevicePatch> {
  const found = new Map<number, DevicePatch>();
  for (const entry of records(text)) {
    const index = looseNumber(entry.gpu);
    if (index === null) continue;
    const memory = asRecord(entry.mem_usage);
    found.set(index, {
      memoryTotal: mib(memory.total_vram),
      memoryUsed: mib(memory.used_vram),
      memoryFree: mib(memory.free_vram),
      gttTotal: mib(memory.total_gtt),
      gttUsed: mib(memory.used_gtt),
      busyPercent: quantity(asRecord(entry.usage).gfx_activity),
      powerW: quantity(asRecord(entry.power).socket_power),
      temperatureC: quantity(asRecord(entry.temperature).edge),
    });
  }
  return found;
}

async function query(tool: Tool, query: 'static' | 'metric') {
  const narrow = await tool('amd-smi', QUERIES[query]);
  if (narrow.missing || narrow.timedOut || narrow.code === 0) return narrow;
  return tool('amd-smi', [query, '--json']);
}

export interface AmdAnswer {
  readonly patches: Map<string, DevicePatch>;
  /** Why there is no data, in one line. Null when the tool succeeded or is not installed. */
  readonly problem: string | null;
}

/**
 * Reads the data of AMD's tool by PCI address. The tool is slow (Python) and wakes sleeping GPUs: never poll
 * it.
 */
export async function readAmdSmi(tool: Tool): Promise<AmdAnswer> {
  const patches = new Map<string, DevicePatch>();
  const identity = await query(tool, 'static');
  if (identity.code !== 0) return { patches, problem: toolProblem(identity) };
  const values = await query(tool, 'metric');
  const metrics = values.code === 0 ? parseMetric(values.stdout) : new Map<number, DevicePatch>();
  for (const { index, id, patch } of parseStatic(identity.stdout)) {
    const metric = metrics.get(index) ?? {};
    patches.set(id, { ...patch, ...metric, memoryTotal: metric.memoryTotal ?? patch.memoryTotal });
  }
  return { patches, problem: null };
}
