import type { z } from 'zod';
import type { InfoResponse, VersionResponse } from './responses.ts';

/** Properties of a container engine. */
export interface EngineInfo {
  readonly kind: 'docker' | 'podman';
  readonly version: string;
  /** The API version that is used. */
  readonly api: string;
  /** True when it runs as an ordinary user of this host. */
  readonly rootless: boolean;
  /** Names of its OCI runtimes. */
  readonly runtimes: readonly string[];
  /** Supports devices by their CDI names. */
  readonly cdi: boolean;
}

/** The API version that the calls are written for. It exists since Docker 20.10 and Podman 4. */
const TARGET_API = '1.41';
/** The first Podman whose API accepts CDI names. */
const FIRST_PODMAN_WITH_CDI = 5;

const parts = (version: string) => version.split('.').map(Number) as [number, number];

/** Returns a negative number when `a` is older than `b`. */
export function compareVersions(a: string, b: string): number {
  const [[majorA, minorA], [majorB, minorB]] = [parts(a), parts(b)];
  return majorA - majorB || minorA - minorB;
}

/**
 * Returns the API version to use: the target version, or the engine's oldest if that is newer. Returns null
 * when the engine is too old.
 */
export function apiVersion(newest: string, oldest: string | undefined): string | null {
  if (compareVersions(newest, TARGET_API) < 0) return null;
  return oldest !== undefined && compareVersions(oldest, TARGET_API) > 0 ? oldest : TARGET_API;
}

/** Combines the two responses. `api` is the result of `apiVersion`. */
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
