import type { DoctorInput } from '../doctor-input.ts';
import type { Finding } from '../finding.ts';

type Check = (input: DoctorInput) => readonly Finding[] | Promise<readonly Finding[]>;

/**
 * Whether this user cannot read config.toml or api.env. Their settings are unknown then, and a verdict based
 * on defaults would be a guess. Check `configuration` reports it once.
 */
export const areFilesDenied = ({ settings }: Pick<DoctorInput, 'settings'>): boolean =>
  settings.denied().length > 0;

/** Wraps a check so that it reports nothing when the files cannot be read. */
export const requiresFiles =
  (check: Check): Check =>
  (input) =>
    areFilesDenied(input) ? [] : check(input);

const DENIED: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM']);

/** Returns true for a permission error. */
export const isDenied = (error: unknown): boolean => DENIED.has((error as NodeJS.ErrnoException).code);
