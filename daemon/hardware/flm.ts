import { asRecord, parseJson, type Tool } from './tools.ts';

/** The NPU state according to the NPU backend (FastFlowLM). */
export interface FlmAnswer {
  ready: boolean;
  /** What prevents the NPU from being used, for users. Null when ready. */
  problem: string | null;
}

/** Checks in the order in which a user must fix them. */
const CHECKS: readonly (readonly [key: string, problem: string])[] = [
  ['kernel_ok', 'the kernel is too old'],
  [
    'amd_device_found',
    'it finds no NPU: the amdxdna driver is missing, or its device node is not accessible',
  ],
  ['all_fw_ok', "the NPU's firmware is too old"],
  ['memlock_ok', 'the locked-memory limit is too low (LimitMEMLOCK=infinity)'],
  ['enough_cols', 'the NPU has too few columns'],
];

/** Parses `flm validate --json`, which is valid JSON also with exit status 1. Null when it is not JSON. */
export function parseFlm(text: string): FlmAnswer | null {
  const answer = asRecord(parseJson(text));
  if (typeof answer.ready !== 'boolean') return null;
  if (answer.ready) return { ready: true, problem: null };
  const failed = CHECKS.find(([key]) => answer[key] === false);
  return { ready: false, problem: failed?.[1] ?? 'it is not ready' };
}

/** Null when FastFlowLM is not installed or too old to report. */
export async function readFlm(tool: Tool): Promise<FlmAnswer | null> {
  const result = await tool('flm', ['validate', '--json']);
  return result.missing ? null : parseFlm(result.stdout);
}
