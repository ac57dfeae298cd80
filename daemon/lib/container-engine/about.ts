import type { z } from 'zod';
import type { InfoResponse, VersionResponse } from './answers.ts';

/** What an engine says of itself. */
export interface EngineInfo {
  readonly kind: 'docker' | 'podman';
  readonly version: string;
  /** The version of the API that is spoken with it. */
  readonly api: string;
  /** True when its root is an ordinary user of this host. */
  readonly rootless: boolean;
  /** Names of its OCI runtimes. */
  readonly runtimes: readonly string[];
  /** It hands out devices by their CDI names. */
  readonly cdi: boolean;
}

/** The API that our calls are written to; it exists since Docker 20.10 and Podman 4. */
const TARGET_API = '1.41';
/** The first Podman whose API takes CDI names. */
const FIRST_PODMAN_WITH_CDI = 5;

const parts = (version: string) => version.split('.').map(Number) as [number, number];

/** Below 0 when `a` is older than `b`. */
export function compareVersions(a: string, b: string): number {
  const [[majorA, minorA], [majorB, minorB]] = [parts(a), parts(b)];
  return majorA - majorB || minorA - minorB;
}

/** The version to speak: ours, or the engine's oldest when that is newer; null when the engine is too old. */
export function apiVersion(newest: string, oldest: string | undefined): string | null {
  if (compareVersions(newest, TARGET_API) < 0) return null;
  return oldest !== undefined && compareVersions(oldest, TARGET_API) > 0 ? oldest : TARGET_API;
}

/** Reads the two answers; `api` is what `apiVersion` chose. */
export function engineInfo(
  version: z.infer<typeof VersionResponse>,
  info: z.infer<typeof InfoResponse>,
  api: string,
): EngineInfo {
  const podman = version.Components?.some(({ Name }) => /podman/i.test(Name)) ?? false;
  const inList = info.SecurityOptions?.some((option) => /(^|=)rootless/.test(option)) ?? false;
  return {
    kind: podman ? 'podman' : 'docker',
    version: version.Version,
    api,
    rootless: info.Rootless ?? inList,
    runtimes: Object.keys(info.Runtimes ?? {}),
    cdi: podman ? parts(version.Version)[0] >= FIRST_PODMAN_WITH_CDI : (info.CDISpecDirs ?? []).length > 0,
  };
}
