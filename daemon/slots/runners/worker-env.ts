/** The variable with the nonce that identifies an engine of this gateway. */
export const NONCE_VARIABLE = 'GATEWAY_WORKER';

/**
 * Inherited variables that an engine may see: those that locate programs, libraries and devices, and set language
 * and time zone. Everything else stays with the gateway, above all its secrets and the tokens of other tools.
 */
const PASSED_VARIABLES: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'TMPDIR',
  'LD_LIBRARY_PATH',
  'XDG_RUNTIME_DIR',
  'VK_ICD_FILENAMES',
  'VK_DRIVER_FILES',
  'VK_LAYER_PATH',
  'GGML_VK_VISIBLE_DEVICES',
  'CUDA_VISIBLE_DEVICES',
  'CUDA_DEVICE_ORDER',
  'HIP_VISIBLE_DEVICES',
  'ROCR_VISIBLE_DEVICES',
  'NODE_COMPILE_CACHE',
]);

/** Variables that keep engines from sending usage data (docs/spec/contract.md#engine-telemetry). */
export const NO_TELEMETRY: Readonly<Record<string, string>> = {
  DO_NOT_TRACK: '1',
  VLLM_NO_USAGE_STATS: '1',
  HF_HUB_DISABLE_TELEMETRY: '1',
};

/**
 * Returns the whole environment of an engine: the passed variables, those against telemetry, the slot's own
 * variables, the nonce.
 */
export function workerEnv(
  inherited: (name: string) => string | undefined,
  own: Readonly<Record<string, string>>,
  nonce: string,
): Record<string, string> {
  const out: Record<string, string> = {};
  for (const name of PASSED_VARIABLES) {
    const value = inherited(name);
    if (value !== undefined) out[name] = value;
  }
  return { ...out, ...NO_TELEMETRY, ...own, [NONCE_VARIABLE]: nonce };
}
